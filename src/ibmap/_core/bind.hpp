// What each part of the core adds to the module; defined at the end of the file of the same name.
#pragma once
#include <nanobind/nanobind.h>

namespace ibmap {

void bind_bayes(nanobind::module_& module);
void bind_dag(nanobind::module_& module);
void bind_dag_search(nanobind::module_& module);
void bind_families(nanobind::module_& module);
void bind_climb(nanobind::module_& module);
void bind_encode(nanobind::module_& module);
void bind_counts(nanobind::module_& module, nanobind::class_<class Table>& table);
void bind_rows(nanobind::module_& module);
void bind_state(nanobind::module_& module);
void bind_statistics(nanobind::module_& module);
void bind_table(nanobind::module_& module);
void bind_triples(nanobind::module_& module);
void bind_gibbs(nanobind::module_&);
void bind_mixed_rows(nanobind::module_& module);
void bind_moa(nanobind::module_&);
void bind_pairwise_fit(nanobind::module_& module);
void bind_sum_product(nanobind::module_& module);

}  // namespace ibmap
