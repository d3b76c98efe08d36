/* Names of C++ as their programmers wrote them. */
#ifndef HEDDLE_BASE_DEMANGLE_H
#define HEDDLE_BASE_DEMANGLE_H

#include <stdbool.h>

/* The name in the words of C++, "void scale<float>(float*, int)" for "_Z5scaleIfEvPT_i"; the name itself where it is
 * not mangled, or where nothing on this system can demangle it. The caller frees it. */
char *demangled(const char *name);
/* The same without its result and parameters ("my::scale<float>"). The caller frees it. */
char *demangled_short(const char *name);
/* The name as a person calls the function: demangled, without its result, template arguments and parameters
 * ("my::scale"). The caller frees it. */
char *demangled_plain(const char *name);
/* Does `asked` name the function? It may be the name as it is, or demangled; the latter without its result, without
 * parameters, without template arguments, without namespaces. It may be a pattern of the shell (* and ?). */
bool demangled_is(const char *name, const char *asked);

#endif
