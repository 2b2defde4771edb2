/* symbols.c - see symbols.h. ELF of 64 bits.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Weft authors
 */
#define _GNU_SOURCE /* _dl_find_object, dl_iterate_phdr */
#include "base/symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

/* ---- What is loaded ---------------------------------------------------------------------------------- */

#ifdef DLFO_STRUCT_HAS_EH_DBASE /* a C library that can: it asks nobody for a lock, whoever holds that */
bool weft__symbols_module(uintptr_t pc, struct weft__module *m)
{
    struct dl_find_object o;

    if (_dl_find_object((void *)pc, &o) != 0)
        return false;
    *m = (struct weft__module){o.dlfo_link_map->l_addr, (uintptr_t)o.dlfo_map_start,
                               (uintptr_t)o.dlfo_map_end, o.dlfo_link_map->l_name};
    return true;
}
#else
struct question {
    uintptr_t            pc;
    struct weft__module *answer;
};

static int is_there(struct dl_phdr_info *info, size_t size, void *question)
{
    struct question *q = question;

    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t first = info->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD || q->pc - first >= part->p_memsz)
            continue;
        *q->answer = (struct weft__module){info->dlpi_addr, first, first + part->p_memsz,
                                           info->dlpi_name ? info->dlpi_name : ""};
        return true;
    }
    return false;
}

bool weft__symbols_module(uintptr_t pc, struct weft__module *m)
{
    struct question q = {pc, m};

    return dl_iterate_phdr(is_there, &q);
}
#endif

const char *weft__symbols_file(const struct weft__module *m, char *room, size_t size)
{
    char        path[512];
    const char *whole = m->path;

    if (!*whole) {
        ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
        path[n > 0 ? n : 0] = 0;
        whole = n > 0 ? path : "program";
    }
    const char       *slash = strrchr(whole, '/');
    struct weft__text t = weft__text_in(room, size);
    weft__text_add(&t, slash ? slash + 1 : whole);
    return room;
}

/* ---- What is in its file: nothing in there is trusted ------------------------------------------------- */

struct file {
    const unsigned char *bytes;
    size_t               size;
};

static struct file open_file(const struct weft__module *m)
{
    int         fd = open(*m->path ? m->path : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat about;
    struct file f = {NULL, 0};

    if (fd < 0)
        return f;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > (off_t)sizeof(Elf64_Ehdr)) {
        void *bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED)
            f = (struct file){bytes, (size_t)about.st_size};
    }
    close(fd);
    return f;
}

/* So many things of that size; NULL: the file has not so many there. */
static const void *at(const struct file *f, uint64_t offset, uint64_t count, size_t each)
{
    bool fits = offset <= f->size && count <= (f->size - offset) / each && offset % 8 == 0;

    return fits ? f->bytes + offset : NULL;
}

static const Elf64_Shdr *sections(const struct file *f, size_t *count)
{
    const Elf64_Ehdr *head = (const void *)f->bytes;

    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        head->e_shentsize != sizeof(Elf64_Shdr))
        return NULL;
    *count = head->e_shnum;
    return at(f, head->e_shoff, head->e_shnum, sizeof(Elf64_Shdr));
}

struct symbol {
    const char *name; /* NULL: none */
    uint64_t    offset;
};

/* Some functions have several names: one that others know comes first. */
static struct symbol find(const struct file *f, const Elf64_Shdr *table, const Elf64_Shdr *names, uint64_t pc)
{
    const Elf64_Sym *s = at(f, table->sh_offset, 1, table->sh_size);
    struct symbol    best = {NULL, 0};

    if (!s || names->sh_offset > f->size || names->sh_size > f->size - names->sh_offset || !names->sh_size)
        return best;
    const char *text = (const char *)f->bytes + names->sh_offset;
    if (text[names->sh_size - 1])
        return best;
    for (size_t n = table->sh_size / sizeof *s; n; n--, s++) {
        unsigned type = ELF64_ST_TYPE(s->st_info);
        if ((type != STT_FUNC && type != STT_GNU_IFUNC) || s->st_shndx == SHN_UNDEF)
            continue;
        if (pc - s->st_value >= s->st_size || s->st_name >= names->sh_size || !text[s->st_name])
            continue;
        best = (struct symbol){text + s->st_name, pc - s->st_value};
        if (ELF64_ST_BIND(s->st_info) == STB_GLOBAL)
            break;
    }
    return best;
}

static struct symbol find_in(const struct file *f, uint32_t kind, uint64_t pc)
{
    size_t            count = 0;
    const Elf64_Shdr *all = sections(f, &count);

    for (size_t i = 0; all && i < count; i++)
        if (all[i].sh_type == kind && all[i].sh_size && all[i].sh_link < count)
            return find(f, &all[i], &all[all[i].sh_link], pc);
    return (struct symbol){NULL, 0};
}

/* ---- Names -------------------------------------------------------------------------------------------- */

static bool write_symbol(struct weft__text *t, const struct weft__module *m, uintptr_t pc, unsigned back)
{
    struct file   f = open_file(m);
    struct symbol s = {NULL, 0};

    if (!f.bytes)
        return false;
    s = find_in(&f, SHT_SYMTAB, pc - back - m->base);
    if (!s.name)
        s = find_in(&f, SHT_DYNSYM, pc - back - m->base);
    if (s.name) {
        weft__text_add(t, s.name);
        if (s.offset + back) {
            weft__text_add(t, "+");
            weft__text_hex(t, s.offset + back);
        }
    }
    munmap((void *)f.bytes, f.size);
    return s.name;
}

static const char *name(uintptr_t pc, unsigned back, char *room, size_t size)
{
    struct weft__text   t = weft__text_in(room, size);
    struct weft__module m;

    if (!weft__symbols_module(pc - back, &m)) {
        weft__text_hex(&t, pc);
    } else if (!write_symbol(&t, &m, pc, back)) {
        weft__symbols_file(&m, room, size);
        t.at = room + strlen(room);
        weft__text_add(&t, "+");
        weft__text_hex(&t, pc - m.base);
    }
    return room;
}

const char *weft__symbols_name(const void *pc, char *room, size_t size)
{
    return name((uintptr_t)pc, 0, room, size);
}

const char *weft__symbols_caller(const void *pc, char *room, size_t size)
{
    return name((uintptr_t)pc, 1, room, size);
}
