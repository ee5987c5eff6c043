/*
 * check.h - what the checks of the core share.
 */
#ifndef TMUX_WAIT_CHECK_H
#define TMUX_WAIT_CHECK_H

#include "../fuzz/fuzz.h"

#define CORE_ALLOCATE_ITSELF
#include "core_allocate.h"

/* One check: it aborts if what its name says is not so. */
struct check {
	const char	*name;
	void		(*run)(void);
};

/* Ended by one without a name. */
extern const struct check limit_checks[];
extern const struct check slide_checks[];

/* Literals that must build. */
struct tw_literals *check_literals(const char *const *, uint32_t, uint32_t);

#endif
