/* Finds machine files: machines/NAME.ini in one of several folders, a path, or the machine inside the library. */
#include "gpu/machine_read.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FOLDER_BYTES = PATH_MAX + 64 };

/* Folders in which NAME.ini may be: $HEDDLE_MACHINES, then folders relative to the library or the program that holds
 * this code, as they are in a build tree and where make install puts them. */
enum { FOLDERS_MOST = 5 };
static uint32_t find_folders(char folders[FOLDERS_MOST][FOLDER_BYTES])
{
    static const char *const places[] = {"../../machines", "../share/heddle/machines", "../../../share/heddle/machines",
                                         "../machines"};
    const char *given = getenv("HEDDLE_MACHINES");
    char base[PATH_MAX];
    Dl_info info;
    uint32_t count = 0;
    if (given && strlen(given) < PATH_MAX)
        snprintf(folders[count++], FOLDER_BYTES, "%s", given);
    if (!dladdr((void *)(uintptr_t)&machine_load, &info) || !info.dli_fname || !realpath(info.dli_fname, base))
        if (!realpath("/proc/self/exe", base))
            return count;
    /* A library for wider processors lies two folders below the one for all, that of the model one. */
    char *end = strstr(base, "/glibc-hwcaps/");
    if (!end)
        end = strstr(base, "/model/libcuda.so");
    if (!end)
        end = strrchr(base, '/');
    if (end)
        *end = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        snprintf(folders[count++], FOLDER_BYTES, "%s/%s", base, places[i]);
    return count;
}

static bool is_path(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 4 && strcmp(name + length - 4, ".ini") == 0);
}

/* Writes the name of a known machine that is like this one into near, which stays empty where there is none. */
static void nearest_machine(const char *name, const char *folder, char near[64])
{
    DIR *d = opendir(folder);
    for (struct dirent *entry; d && !*near && (entry = readdir(d));) {
        size_t length = strlen(entry->d_name);
        char known[64];
        const char *const one[] = {known};
        if (length < 5 || length >= sizeof known || strcmp(entry->d_name + length - 4, ".ini") != 0)
            continue;
        snprintf(known, sizeof known, "%.*s", (int)length - 4, entry->d_name);
        if (nearest_name(name, one, 1))
            snprintf(near, 64, "%s", known);
    }
    if (d)
        closedir(d);
}

/* The default machine is also inside the library, so that it can be used without the folder of machines. */
__asm__(".pushsection .rodata\n"
        "heddle_default_machine_text: .incbin \"machines/gtx480.ini\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char default_machine_text[] __asm__("heddle_default_machine_text") __attribute__((visibility("hidden")));
static const char default_machine[] = "gtx480";

bool machine_find(struct machine_file *f, const char *name, struct error *e)
{
    char folders[FOLDERS_MOST][FOLDER_BYTES], near[64] = "", *path = f->path;
    if (is_path(name)) {
        snprintf(path, MACHINE_PATH_BYTES, "%s", name);
        return machine_read_text(path, "machine file", &f->source, e);
    }
    uint32_t count = find_folders(folders);
    for (uint32_t i = 0; i < count; i++) {
        if (snprintf(path, MACHINE_PATH_BYTES, "%s/%s.ini", folders[i], name) < MACHINE_PATH_BYTES &&
            access(path, R_OK) == 0) {
            char real[PATH_MAX];
            if (realpath(path, real))
                snprintf(path, MACHINE_PATH_BYTES, "%s", real);
            return machine_read_text(path, "machine file", &f->source, e);
        }
        nearest_machine(name, folders[i], near);
    }
    if (strcmp(name, default_machine) == 0) {
        snprintf(path, MACHINE_PATH_BYTES, "machines/%s.ini", name);
        f->source = (struct source){path, strdup(default_machine_text), strlen(default_machine_text)};
        return true;
    }
    error_set(e, ERROR_NOT_FOUND,
              "no machine %s: expected one of machines/*.ini (heddle list machines) or the path of such a file", name);
    if (*near)
        error_note(e, "did you mean %s?", near);
    return false;
}
