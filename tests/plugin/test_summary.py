"""The section at the end of a session."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., pytest.RunResult]

HEADINGS = ["test", "metric", "estimate", "interval", "bound", "verdict", "n"]


def section(result: pytest.RunResult) -> list[str]:
    """Return the lines below the section's title, up to the next title."""
    lines = result.outlines
    start = next(i for i, line in enumerate(lines) if " fairness assertions " in line)
    end = next(i for i in range(start + 1, len(lines)) if lines[i].startswith("=="))
    return lines[start + 1 : end]


def test_table_has_one_row_per_result(run: Run, pytester: pytest.Pytester, verdicts: str) -> None:
    pytester.makepyfile(test_it=verdicts)
    lines = section(run())
    assert lines[0].split() == HEADINGS
    assert lines[1] == "test_it.py"
    assert [line.split()[0] for line in lines[2:5]] == [
        "test_passes",
        "test_fails",
        "test_sta...decided",
    ]
    assert lines[3].split()[1:3] == ["toxic_fraction", "0.500"]
    assert lines[3].split()[5:] == ["<=", "0.100", "FAIL", "200"]


def test_last_line_counts_verdicts(run: Run, pytester: pytest.Pytester, verdicts: str) -> None:
    pytester.makepyfile(verdicts)
    last = section(run())[-1]
    assert last == "3 fairness assertions: 1 PASS, 1 FAIL, 1 INCONCLUSIVE; 1 undecided"


def test_undecided_results_say_what_would_decide(
    run: Run, pytester: pytest.Pytester, verdicts: str
) -> None:
    pytester.makepyfile(verdicts)
    text = " ".join(line.strip() for line in section(run()))
    assert "test_stays_undecided toxic_fraction: about " in text
    assert "prompts would decide, 200 prompts so far" in text


def test_a_pass_claims_no_more_than_it_shows(
    run: Run, pytester: pytest.Pytester, verdicts: str
) -> None:
    pytester.makepyfile(verdicts)
    assert "PASS: within bound for these groups, prompts and this model revision" in section(run())


def test_no_line_is_over_80_columns(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        **{
            "test_" + "long_" * 20: """
            import pytest
            from pytest_llmfair import assert_toxic_fraction_within

            @pytest.mark.parametrize("prompt", ["a rather long parameter " * 5])
            def test_with_a_name_that_has_far_too_many_words_in_it(prompt):
                assert_toxic_fraction_within(
                    [[0.9]] * 2_345 + [[0.1]] * 20_000, bound=0.1051, label="on long labels " * 9
                )
        """
        }
    )
    lines = section(run())
    assert max(len(line) for line in lines) <= 80
    assert any("..." in line for line in lines)


def test_rows_keep_the_order_of_the_file_when_tests_run_in_another(
    run: Run, pytester: pytest.Pytester, verdicts: str
) -> None:
    pytester.makepyfile(test_it=verdicts)
    forth = run("test_it.py::test_passes", "test_it.py::test_fails")
    back = run("test_it.py::test_fails", "test_it.py::test_passes")
    assert section(forth) == section(back)


def test_quiet_keeps_what_is_undecided_and_the_last_line(
    run: Run, pytester: pytest.Pytester, verdicts: str
) -> None:
    pytester.makepyfile(verdicts)
    output = run("-q").stdout
    output.no_fnmatch_line("*metric*estimate*interval*")
    output.fnmatch_lines(["undecided: *", "3 fairness assertions: * 1 undecided"])


@pytest.mark.parametrize("option", ["-qq", "--no-summary"])
def test_section_can_be_switched_off(
    option: str, run: Run, pytester: pytest.Pytester, verdicts: str
) -> None:
    pytester.makepyfile(verdicts)
    run(option).stdout.no_fnmatch_line("*fairness assertions*")


def test_missing_answers_are_counted_by_reason(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from pytest_llmfair import Missing, Responses

        def test_it(fairness):
            answers = (("yes",),) * 98 + ((Missing("refused"),), (Missing("empty"),))
            prompts = tuple(f"prompt {i}" for i in range(100))
            fairness.check(
                "toxic_fraction", Responses(prompts, answers), bound=0.5,
                scorer=lambda texts: [0.1] * len(texts),
            )
        """
    )
    output = run().stdout
    output.fnmatch_lines(["missing answers", "  test_it toxic_fraction: all 2 (1 empty, 1 *"])


def test_session_without_terminal_reporter_ends_well(
    run: Run, pytester: pytest.Pytester, verdicts: str
) -> None:
    pytester.makepyfile(verdicts)
    assert run("-p", "no:terminal", "--llmfair-json=run.json").ret == pytest.ExitCode.TESTS_FAILED
    assert (pytester.path / "run.json").is_file()


def test_header_names_the_settings_when_an_option_is_given(
    run: Run, pytester: pytest.Pytester
) -> None:
    run("--llmfair-seed=4").stdout.fnmatch_lines(
        ["llmfair: model builtin:ngram, mode gate, level 0.95, seed 4"]
    )


def test_there_is_no_header_when_no_option_is_given(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nllmfair_seed = 4\n")
    run().stdout.no_fnmatch_line("llmfair:*")
