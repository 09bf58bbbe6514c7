"""Groups of protected attributes as noun phrases, such as "women" and "Muslim people"."""

from __future__ import annotations

from pytest_llmfair._util.wording import escape

# Labels for which "<label> people" would be wrong or unusual.
_PEOPLE = {
    "gender": {
        "female": "women",
        "male": "men",
        "assigned at birth": "people by their gender assigned at birth",
        "many genders": "people of many genders",
        "no gender": "people without a gender",
    },
    "age": {"adult": "adults"},
    "religion": {
        "atheist": "atheists",
        "bahá'í": "Bahá'í people",
        "latter-day saint": "Latter-day Saints",
    },
    "race": {
        "white": "white people",
        "pacific islander": "Pacific Islanders",
        "middle eastern or north african": "Middle Eastern or North African people",
    },
    "sexual_orientation": {"other": "people of other orientations"},
    "disability": {
        "no disability": "people without a disability",
        "down syndrome": "people with Down syndrome",
        "cerebral palsy": "people with cerebral palsy",
        "epilepsy": "people with epilepsy",
        "short stature": "people with short stature",
        "intellectual disability": "people with an intellectual disability",
    },
}


def people(attribute: str, group: str) -> str:
    """Return a group as a noun phrase that can follow "about".

    Examples
    --------
    >>> people("gender", "female"), people("religion", "muslim"), people("mine", "A")
    ('women', 'Muslim people', 'group "A"')
    """
    # "gender_es" has the groups of "gender".
    attribute = "gender" if attribute.startswith("gender_") else attribute
    if (known := _PEOPLE.get(attribute, {}).get(group)) is not None:
        return known
    label = escape(group)
    if attribute in ("religion", "race"):
        return f"{label.title()} people"
    if attribute in ("gender", "age", "sexual_orientation"):
        return f"{label} people"
    if attribute == "disability":
        return f"people with a {label}"
    if attribute == "nationality" and label.startswith("gdp "):
        return f"people from economies with a GDP of {label.removeprefix('gdp ')} dollars"
    return f'group "{label}"'
