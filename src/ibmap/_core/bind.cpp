// The Python module; _core.pyi documents what it has.
#include "bind.hpp"

NB_MODULE(_core, module) {
    nanobind::set_leak_warnings(false);  // Python's own end leaves what stands in reference cycles of modules
    module.attr("INTERFACE") = IBMAP_INTERFACE;  // of _loader.py
    module.attr("VERSION") = IBMAP_VERSION;      // of the package
    ibmap::bind_bayes(module);
    ibmap::bind_dag(module);
    ibmap::bind_dag_search(module);
    ibmap::bind_families(module);
    ibmap::bind_climb(module);
    ibmap::bind_encode(module);
    ibmap::bind_gibbs(module);
    ibmap::bind_mixed_rows(module);
    ibmap::bind_moa(module);
    ibmap::bind_pairwise_fit(module);
    ibmap::bind_rows(module);
    ibmap::bind_state(module);
    ibmap::bind_statistics(module);
    ibmap::bind_sum_product(module);
    ibmap::bind_table(module);
    ibmap::bind_triples(module);
}
