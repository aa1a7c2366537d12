// The module ibmap._processor: which instruction sets this processor has, and which each build of the core needs.
// It is asked before a build is loaded, and compiled for the baseline, so that it runs anywhere.
#include <pyconfig.h>
#ifndef Py_GIL_DISABLED
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>

#include "features.hpp"
#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

#define BUILD(name) extern const std::uint64_t ibmap_needs_##name;
IBMAP_BUILDS
#undef BUILD

namespace {

#define FEATURE(name, ...) name,
const char* const names[] = {IBMAP_FEATURES(FEATURE) nullptr};
#undef FEATURE

#if defined(__x86_64__) && defined(__GNUC__)
bool has_bit(unsigned leaf, unsigned subleaf, int number, int bit) {
    unsigned registers[4] = {};
    return __get_cpuid_count(leaf, subleaf, registers, registers + 1, registers + 2, registers + 3) &&
           (registers[number] >> bit & 1);
}

// What the operating system saves when threads change: bit 0 always, bit 1 registers of AVX, bit 2 those of AVX-512.
unsigned saved() {
    if (!has_bit(1, 0, 2, 27)) return 1;
    unsigned low = 0, high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return 1u | ((low & 0x6) == 0x6) << 1 | ((low & 0xe6) == 0xe6) << 2;
}
#endif

std::uint64_t features() {
    std::uint64_t found = 0;
#if defined(__x86_64__) && defined(__GNUC__)
    const unsigned registers = saved();
    int i = 0;
#define FEATURE(name, macro, leaf, subleaf, number, bit, saves) \
    found |= std::uint64_t{has_bit(leaf, subleaf, number, bit) && (registers >> saves & 1)} << i++;
    IBMAP_FEATURES(FEATURE)
#undef FEATURE
#endif
    return found;
}

// The names of features, as a list.
PyObject* list_of(std::uint64_t mask) {
    PyObject* list = PyList_New(0);
    for (int i = 0; list && names[i]; ++i) {
        if (!(mask >> i & 1)) continue;
        PyObject* name = PyUnicode_FromString(names[i]);
        if (!name || PyList_Append(list, name) < 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

// Sets owner[name] = value, and gives the value away.
bool put(PyObject* owner, const char* name, PyObject* value) {
    const bool done = value && PyDict_SetItemString(owner, name, value) == 0;
    Py_XDECREF(value);
    return done;
}

bool fill(PyObject* module) {
    PyObject* builds = PyDict_New();
    bool done = builds != nullptr;
#define BUILD(name) done = done && put(builds, #name, list_of(ibmap_needs_##name));
    IBMAP_BUILDS
#undef BUILD
    PyObject* members = PyModule_GetDict(module);
    done = done && PyDict_SetItemString(members, "BUILDS", builds) == 0 &&
           put(members, "FEATURES", list_of(features()));
    Py_XDECREF(builds);
    return done;
}

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_processor", nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__processor(void);
PyMODINIT_FUNC PyInit__processor(void) {
    PyObject* module = PyModule_Create(&definition);
    if (module && !fill(module)) Py_CLEAR(module);
    return module;
}
