/*
 * main.c - the core's own test runner, without Python: the checks, then each
 * file of the fuzz targets' corpora through each of the targets, and through
 * its own in all the ways to feed it.
 *
 * Usage: check [FOLDER], the folder of the corpora.
 */

#include <sys/stat.h>

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

/* Bytes of a file and of a path. */
#define FILE_MAX (1u << 20)
#define PATH_MAX_BYTES 4096

static const struct target {
	const char	*name;
	int		(*run)(const uint8_t *, size_t);
} targets[] = {
	{ "control", fuzz_control }, { "escapes", fuzz_escapes },
	{ "lines", fuzz_lines }, { "literals", fuzz_literals },
	{ "panes", fuzz_panes }, { "scan", fuzz_scan }
};

#define TARGETS (sizeof targets / sizeof *targets)

struct tw_literals *
check_literals(const char *const *words, uint32_t count, uint32_t fold)
{
	struct tw_literals	*literals;
	uint32_t		 lengths[TW_LITERALS_MAX], status, index, i;
	char			 bytes[1024];
	size_t			 total = 0;

	for (i = 0; i < count; i++) {
		lengths[i] = (uint32_t)strlen(words[i]);
		CHECK(sizeof bytes - total >= lengths[i]);
		memcpy(bytes + total, words[i], lengths[i]);
		total += lengths[i];
	}
	literals = tw_literals_new((const uint8_t *)bytes, lengths, count,
	    fold, &status, &index);
	CHECK(literals != NULL && status == TW_LITERALS_OK);
	return (literals);
}

static int
run_checks(const struct check *check)
{
	int	n = 0;

	for (; check->name != NULL; check++, n++) {
		/* Said before: it may be the last thing that is said. */
		(void)fprintf(stderr, "check: %s\n", check->name);
		check->run();
	}
	return (n);
}

/* The path of what lies in a folder. */
static void
join(char *path, const char *folder, const char *name)
{
	int	n = snprintf(path, PATH_MAX_BYTES, "%s/%s", folder, name);

	CHECK(n > 0 && n < PATH_MAX_BYTES);
}

static void
replay_file(const char *path, size_t own)
{
	static uint8_t	 bytes[FILE_MAX];
	FILE		*file = fopen(path, "rb");
	size_t		 n, i;

	CHECK(file != NULL);
	n = fread(bytes, 1, sizeof bytes, file);
	(void)fclose(file);
	(void)fprintf(stderr, "replay: %s\n", path);
	for (i = 0; i < TARGETS; i++) {
		fuzz_thorough = i == own;
		(void)targets[i].run(bytes, n);
	}
}

/* All files of a target's corpus; returns how many. */
static int
replay_folder(const char *corpora, size_t own)
{
	char		 folder[PATH_MAX_BYTES], path[PATH_MAX_BYTES];
	struct stat	 status;
	struct dirent	*entry;
	DIR		*dir;
	int		 n = 0;

	join(folder, corpora, targets[own].name);
	dir = opendir(folder);
	if (dir == NULL)
		fuzz_fail("%s cannot be read", folder);
	while ((entry = readdir(dir)) != NULL) {
		join(path, folder, entry->d_name);
		if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
			continue;
		replay_file(path, own);
		n++;
	}
	(void)closedir(dir);
	if (n == 0)
		fuzz_fail("%s has no files", folder);
	return (n);
}

int
main(int argc, char **argv)
{
	size_t	i;
	int	checks, files = 0;

	checks = run_checks(limit_checks) + run_checks(slide_checks);
	for (i = 0; argc > 1 && i < TARGETS; i++)
		files += replay_folder(argv[1], i);
	(void)printf("%d checks, and %d files through %zu targets: all as it "
	    "should be\n", checks, files, TARGETS);
	return (0);
}
