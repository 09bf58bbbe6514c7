"""Names of the genuine files, by what was planted in them."""

HELM = "helm/{}/apps:model=simple_model1/scenario_state.json"
KINDS = "lm_eval/kinds/fake/kinds_2026-11-29T15-00-30.270709.json"
LM = "lm_eval/{}/fake/{}_2026-11-23T15-31-{}"
PLANTED = [
    "inspect/planted.eval",
    "inspect/planted.json",
    "promptfoo/planted.jsonl",
    "promptfoo/planted.json",
    LM.format("planted", "samples_applications", "42.679924.jsonl"),
    LM.format("planted", "samples_applications_mc", "42.679924.jsonl"),
    LM.format("planted", "results", "42.679924.json"),
    "deepeval/planted_latest_test_run.json",
    "deepeval/planted_latest_run_full.json",
    HELM.format("planted"),
]
FAIR = [
    "inspect/fair.eval",
    "inspect/fair.json",
    "inspect/old_0_3_60_no_effect.eval",
    "promptfoo/fair.jsonl",
    LM.format("fair", "samples_applications", "44.112223.jsonl"),
    LM.format("fair", "samples_applications_mc", "44.112223.jsonl"),
    "deepeval/fair_latest_test_run.json",
    HELM.format("fair"),
]
