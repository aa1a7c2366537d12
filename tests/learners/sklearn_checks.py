"""Checks of scikit-learn that do not fit learners of categories."""


def unfit_checks(estimator: object) -> dict[str, str]:
    """Return them by name, and why."""
    if type(estimator).__name__ == "Bootstrap":  # around EvidenceMAP, which takes numbers
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": "it draws continuous columns (see test_weights.py)"
    }
