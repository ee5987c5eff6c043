/*
 * drain.c - the one reader thread: descriptors in, bounded buffers out.  No
 * other C file knows descriptors.
 *
 * A tap is the read end of a pane's pipe and the bytes that came through it,
 * numbered from 0 on.  Those that its slowest reader has not taken begin at
 * `base`: [base, spooled) lies in an unlinked file, the rest, up to `head`, in
 * a ring in memory.  When both are full the pipe is not read until there is
 * room; nothing is ever dropped, and who writes waits.
 *
 * The thread starts with the first tap and is joined with the last one.  What
 * is shared is under `lock`.  The thread reads and spools without it: nobody
 * else touches the free part of the ring, and nobody changes the part that is
 * used.  A forked child has no such thread, and a lock that may be held for
 * good: there every call returns at once.
 */

#ifdef __linux__
#define _GNU_SOURCE			/* O_TMPFILE */
#else
#define _POSIX_C_SOURCE 200809L
#endif

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/eventfd.h>
#endif

#include "tmux_wait.h"

/* Bytes of one read: what a pipe holds on Linux. */
#define DRAIN_READ 65536

/*
 * After a read of so many bytes the tap rests for so long, so that a flood
 * gathers: a reader that takes each small piece at once slows the pane down to
 * 0.6 of its speed.  tmux renders some 20 KiB in that time.  A read that took
 * a whole pipe shows that the time was too long.
 */
#define DRAIN_FLOOD 2048
#define DRAIN_REST 1000000		/* nanoseconds */

/* Descriptors that the thread can poll without having to allocate. */
#define DRAIN_POLLED 16

#define DRAIN_PATH_MAX 4096

/* A descriptor that is readable while it rings. */
struct bell {
	int	in;
	int	out;
	int	rung;
};

struct tw_reader {
	struct tw_drain		*drain;
	struct tw_tap		*tap;		/* NULL: closed under it */
	struct tw_reader	*next;
	struct bell		 bell;		/* there is something to take */
	uint64_t		 position;
	/* Lent, with what is returned with it: */
	struct tw_scan		*scan;		/* NULL: nothing is lent */
	struct tw_out		*out;
	uint8_t			*text;
	uint64_t		 room;
	struct tw_taken		 taken;
	int64_t			 due;		/* to report; 0: not yet */
	int			 busy;		/* the thread is in the scan */
};

struct tw_tap {
	struct tw_drain		*drain;
	struct tw_tap		*next;
	struct tw_reader	*readers;
	char			*path;		/* of the spool to be */
	int			 fd;		/* the caller's */
	int			 spool;		/* -1: none yet */
	uint64_t		 head;		/* bytes read */
	uint64_t		 spooled;
	uint64_t		 limit;		/* bytes in the spool */
	int64_t			 rest;		/* monotonic, nanoseconds */
	uint8_t			 started;	/* has had a reader */
	uint8_t			 ended;
	uint8_t			 full;
	uint8_t			 reading;
	uint8_t			 broken;	/* no spool can be had */
	uint8_t			 dirty;		/* the spool holds something */
	uint8_t			 closing;
	uint8_t			 gone;		/* the thread has let go */
	uint8_t			 ring[TW_TAP_MEMORY];
};

struct tw_drain {
	pthread_mutex_t	 door;		/* held to begin or end a tap */
	pthread_mutex_t	 lock;
	pthread_cond_t	 turned;	/* a tap is gone, a scan not busy */
	pthread_t	 thread;
	pid_t		 owner;
	struct bell	 bell;		/* the thread should look */
	struct tw_tap	*taps;
	struct tw_tap	*dirty;		/* the thread's: one to tidy up */
	uint32_t	 taps_size;
	int		 stop;
	/* The thread's: what it polls, the bell first, and the taps of it. */
	struct pollfd	*fds;
	struct tw_tap	**polled;
	size_t		 fds_room;
	size_t		 fds_size;
};

static uint64_t
drain_min(uint64_t a, uint64_t b)
{
	return (a < b ? a : b);
}

static uint64_t
drain_max(uint64_t a, uint64_t b)
{
	return (a > b ? a : b);
}

/* Monotonic time, in nanoseconds. */
static int64_t
drain_now(void)
{
	struct timespec	now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
}

/* Whether this is the process that made the drain, not a fork of it. */
static int
drain_is_ours(const struct tw_drain *d)
{
	return (d->owner == getpid());
}

/* --- bells --- */

#ifdef __linux__

static int
bell_init(struct bell *b)
{
	b->rung = 0;
	b->in = b->out = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return (b->in < 0 ? -1 : 0);
}

#else

static int
bell_init(struct bell *b)
{
	int	fds[2], i;

	b->rung = 0;
	b->in = b->out = -1;
	if (pipe(fds) != 0)
		return (-1);
	for (i = 0; i < 2; i++) {
		fcntl(fds[i], F_SETFD, FD_CLOEXEC);
		fcntl(fds[i], F_SETFL, O_NONBLOCK);
	}
	b->in = fds[0];
	b->out = fds[1];
	return (0);
}

#endif

static void
bell_ring(struct bell *b)
{
	uint64_t	one = 1;

	if (b->rung)
		return;
	b->rung = 1;
	while (write(b->out, &one, sizeof one) < 0 && errno == EINTR)
		continue;
}

static void
bell_hush(struct bell *b)
{
	uint64_t	count;

	if (!b->rung)
		return;
	b->rung = 0;
	while (read(b->in, &count, sizeof count) < 0 && errno == EINTR)
		continue;
}

static void
bell_close(struct bell *b)
{
	if (b->in >= 0)
		close(b->in);
	if (b->out >= 0 && b->out != b->in)
		close(b->out);
}

/* --- a tap's bytes; all but tap_spill, tap_tidy and tap_read under lock --- */

/* The first byte that somebody still has to take. */
static uint64_t
tap_base(const struct tw_tap *t)
{
	const struct tw_reader	*r;
	uint64_t		 base;

	base = t->started ? t->head : 0;
	for (r = t->readers; r != NULL; r = r->next)
		base = drain_min(base, r->position);
	return (base);
}

/* The first byte that lies in the ring alone. */
static uint64_t
tap_kept(const struct tw_tap *t)
{
	return (drain_max(t->spooled, tap_base(t)));
}

static uint64_t
tap_room(const struct tw_tap *t)
{
	return (TW_TAP_MEMORY - (t->head - tap_kept(t)));
}

/* Whether the thread scans what this reader would take. */
static int
reader_is_scanned(const struct tw_reader *r)
{
	return (r->scan != NULL && !r->taken.found &&
	    r->position >= r->tap->spooled);
}

/* Something came, or the end: whoever has to take it shall know. */
static void
tap_tell(struct tw_tap *t)
{
	struct tw_reader	*r;

	for (r = t->readers; r != NULL; r = r->next) {
		if (r->position == t->head ? t->ended : !reader_is_scanned(r))
			bell_ring(&r->bell);
	}
}

/* A file without a name; -1 if it cannot be had. */
static int
spool_open(const char *path)
{
	int	fd;

#if defined(__linux__) && defined(O_TMPFILE)
	char		 folder[DRAIN_PATH_MAX];
	const char	*end;

	end = strrchr(path, '/');
	if (end != NULL && (size_t)(end - path) < sizeof folder) {
		memcpy(folder, path, (size_t)(end - path));
		folder[end - path] = '\0';
		fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		if (fd >= 0)
			return (fd);
	}
#endif
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	    0600);
	if (fd >= 0)
		unlink(path);
	return (fd);
}

/* Which bytes may go from the ring to the spool at once: *from, and how many. */
static size_t
tap_spillable(const struct tw_tap *t, uint64_t *from)
{
	uint64_t	size, kept;

	if (t->broken || t->limit == 0)
		return (0);
	kept = *from = tap_kept(t);
	size = drain_min(t->head - kept, t->limit - (kept - tap_base(t)));
	size = drain_min(size, TW_TAP_MEMORY - kept % TW_TAP_MEMORY);
	size = drain_min(size, t->limit - kept % t->limit);
	return ((size_t)drain_min(size, DRAIN_READ));
}

/* Make room in the ring. */
static void
tap_spill(struct tw_drain *d, struct tw_tap *t)
{
	uint64_t	from;
	size_t		size;
	ssize_t		done = -1;

	pthread_mutex_lock(&d->lock);
	size = tap_spillable(t, &from);
	pthread_mutex_unlock(&d->lock);
	if (size == 0)
		return;
	if (t->spool < 0)
		t->spool = spool_open(t->path);
	if (t->spool >= 0)
		done = pwrite(t->spool, t->ring + from % TW_TAP_MEMORY, size,
		    (off_t)(from % t->limit));
	pthread_mutex_lock(&d->lock);
	if (done > 0) {
		t->spooled = from + (uint64_t)done;
		t->dirty = 1;
	} else if (done == 0 || errno != EINTR)
		t->broken = 1;
	pthread_mutex_unlock(&d->lock);
}

/* Give back the space of a spool that has been taken. */
static void
tap_tidy(struct tw_tap *t)
{
	if (ftruncate(t->spool, 0) != 0)
		return;			/* it is used again all the same */
}

/* Where the next bytes go, and how many may come. */
static uint8_t *
tap_free_part(struct tw_drain *d, struct tw_tap *t, size_t *size)
{
	uint64_t	at, room;

	pthread_mutex_lock(&d->lock);
	at = t->head % TW_TAP_MEMORY;
	room = tap_room(t);
	t->full = room == 0;
	t->reading = room > 0;
	pthread_mutex_unlock(&d->lock);
	room = drain_min(room, TW_TAP_MEMORY - at);
	*size = (size_t)drain_min(room, DRAIN_READ);
	return (t->ring + at);
}

/* Read once what a descriptor has. */
static void
tap_read(struct tw_drain *d, struct tw_tap *t)
{
	uint8_t	*to;
	size_t	 size;
	ssize_t	 done;
	int	 nothing, short_of_room;

	pthread_mutex_lock(&d->lock);
	short_of_room = tap_room(t) < DRAIN_READ;
	pthread_mutex_unlock(&d->lock);
	if (short_of_room)
		tap_spill(d, t);
	to = tap_free_part(d, t, &size);
	if (size == 0)
		return;
	done = read(t->fd, to, size);
	nothing = done < 0 && (errno == EAGAIN || errno == EINTR);
	pthread_mutex_lock(&d->lock);
	t->reading = 0;
	if (done > 0)
		t->head += (uint64_t)done;
	else if (!nothing)
		t->ended = 1;
	if (done >= DRAIN_FLOOD && done < DRAIN_READ)
		t->rest = drain_now() + DRAIN_REST;
	tap_tell(t);
	pthread_mutex_unlock(&d->lock);
}

/* --- scans that are lent --- */

/* Keep a piece of text, as much of its end as there is room for. */
static void
reader_keep(struct tw_reader *r, const uint8_t *text, size_t size)
{
	size_t	at, first;

	if (size > r->room) {
		r->taken.text += size - r->room;
		text += size - r->room;
		size = (size_t)r->room;
	}
	at = (size_t)(r->taken.text % r->room);
	first = (size_t)drain_min(size, r->room - at);
	memcpy(r->text + at, text, first);
	memcpy(r->text, text + first, size - first);
	r->taken.text += size;
}

/* Keep the text of the lines that a feed completed. */
static void
reader_keep_lines(struct tw_reader *r)
{
	const struct tw_out	*o = r->out;
	const struct tw_version	*v;
	uint32_t		 i, known;

	for (i = 0; i < o->versions_size; i++) {
		v = &o->versions[i];
		if (v->end == TW_END_REDRAWN)
			continue;
		known = v->carried < v->size ? v->carried : v->size;
		/* A line feed lies behind it. */
		reader_keep(r, o->text + v->text + known, v->size - known + 1);
	}
}

/*
 * Feed a scan; returns the bytes taken.  Not under lock: the scan is the
 * thread's, and so is the part of the ring until the reader moves on.
 */
static size_t
reader_scan(struct tw_reader *r, const uint8_t *data, size_t size)
{
	size_t	done = 0;

	do {
		done += tw_scan_feed(r->scan, data + done, size - done, r->out);
		if (r->out->hits_size > 0) {
			r->taken.found = 1;
			return (done);
		}
		reader_keep_lines(r);
	} while (r->out->full || done < size);
	return (done);
}

/* A reader that lags behind with a scan that is lent, or NULL. */
static struct tw_reader *
drain_next_scan(struct tw_drain *d)
{
	struct tw_tap		*t;
	struct tw_reader	*r;

	for (t = d->taps; t != NULL; t = t->next) {
		for (r = t->readers; r != NULL; r = r->next) {
			if (reader_is_scanned(r) && r->position < t->head)
				return (r);
		}
	}
	return (NULL);
}

/* Scan what has come, for all who have lent a scan; under lock. */
static void
drain_scan(struct tw_drain *d)
{
	struct tw_reader	*r;
	struct tw_tap		*t;
	size_t			 at, size;

	while ((r = drain_next_scan(d)) != NULL) {
		t = r->tap;
		at = (size_t)(r->position % TW_TAP_MEMORY);
		size = (size_t)drain_min(t->head - r->position,
		    TW_TAP_MEMORY - at);
		r->busy = 1;
		pthread_mutex_unlock(&d->lock);
		size = reader_scan(r, t->ring + at, size);
		pthread_mutex_lock(&d->lock);
		r->busy = 0;
		pthread_cond_broadcast(&d->turned);
		r->position += size;
		r->taken.size += size;
		r->taken.last = drain_now();
		t->full = 0;
		if (r->due == 0)
			r->due = r->taken.last + TW_SCAN_REPORT * DRAIN_REST;
		if (r->taken.found || (t->ended && r->position == t->head))
			bell_ring(&r->bell);
	}
}

/* Report what is due; returns when the next one is, or 0; under lock. */
static int64_t
tap_report(struct tw_tap *t, int64_t now)
{
	struct tw_reader	*r;
	int64_t			 next = 0;

	for (r = t->readers; r != NULL; r = r->next) {
		if (r->scan == NULL || r->due == 0 || r->bell.rung)
			continue;
		if (r->due <= now)
			bell_ring(&r->bell);
		else if (next == 0 || r->due < next)
			next = r->due;
	}
	return (next);
}

/* --- the thread --- */

/* Room to poll one descriptor for each tap and the bell. */
static void
drain_allocate(struct tw_drain *d, size_t room)
{
	struct pollfd	*fds;
	struct tw_tap	**polled;

	fds = realloc(d->fds, room * sizeof *fds);
	if (fds != NULL)
		d->fds = fds;
	polled = realloc(d->polled, room * sizeof *polled);
	if (polled != NULL)
		d->polled = polled;
	if (fds != NULL && polled != NULL)
		d->fds_room = room;
}

/* Forget the taps that are being closed. */
static void
drain_let_go(struct tw_drain *d)
{
	struct tw_tap	**at;

	for (at = &d->taps; *at != NULL;) {
		if (!(*at)->closing) {
			at = &(*at)->next;
			continue;
		}
		(*at)->gone = 1;
		*at = (*at)->next;
		d->taps_size--;
		pthread_cond_broadcast(&d->turned);
	}
}

/* Whether a tap is to be read; one that rests shortens the poll's timeout. */
static int
drain_wants(const struct tw_tap *t, int64_t now, int *timeout)
{
	if (t->ended || t->full)
		return (0);
	if (t->rest <= now)
		return (1);
	*timeout = 1;			/* DRAIN_REST; less there is not */
	return (0);
}

/* Shorten a timeout, in milliseconds, to a moment; 0 is none. */
static int
drain_until(int timeout, int64_t now, int64_t moment)
{
	int	left;

	if (moment == 0)
		return (timeout);
	left = (int)((moment - now) / DRAIN_REST) + 1;
	return (timeout < 0 || left < timeout ? left : timeout);
}

/* Choose what to poll; returns the timeout in milliseconds. */
static int
drain_choose(struct tw_drain *d)
{
	struct tw_tap	*t;
	int64_t		 now;
	int		 timeout = -1;

	if (d->taps_size >= d->fds_room)
		drain_allocate(d, d->taps_size * 2);
	now = drain_now();
	d->fds_size = 1;
	d->dirty = NULL;
	for (t = d->taps; t != NULL; t = t->next) {
		if (t->dirty && tap_base(t) >= t->spooled) {
			t->dirty = 0;
			d->dirty = t;
			return (0);
		}
		timeout = drain_until(timeout, now, tap_report(t, now));
		if (!drain_wants(t, now, &timeout) ||
		    d->fds_size == d->fds_room)
			continue;
		d->fds[d->fds_size].fd = t->fd;
		d->fds[d->fds_size].events = POLLIN;
		d->polled[d->fds_size++] = t;
	}
	return (timeout);
}

/* Wait, and read what can be read; returns 0 when it is time to stop. */
static int
drain_turn(struct tw_drain *d)
{
	size_t	i;
	int	timeout, stop;

	pthread_mutex_lock(&d->lock);
	bell_hush(&d->bell);
	drain_scan(d);
	drain_let_go(d);
	stop = d->stop;
	timeout = drain_choose(d);
	pthread_mutex_unlock(&d->lock);
	if (stop)
		return (0);
	if (d->dirty != NULL)
		tap_tidy(d->dirty);
	if (poll(d->fds, (nfds_t)d->fds_size, timeout) <= 0)
		return (1);
	for (i = 1; i < d->fds_size; i++) {
		if (d->fds[i].revents != 0)
			tap_read(d, d->polled[i]);
	}
	return (1);
}

static void *
drain_run(void *argument)
{
	struct tw_drain	*d = argument;

	while (drain_turn(d))
		continue;
	return (NULL);
}

/*
 * Begin with a first tap.  The thread is deaf to signals: they are for those
 * who wait for them.
 */
static int
drain_start(struct tw_drain *d, struct tw_tap *t)
{
	sigset_t	all, before;
	int		error;

	if (bell_init(&d->bell) != 0)
		return (-1);
	d->fds[0].fd = d->bell.in;
	d->fds[0].events = POLLIN;
	d->stop = 0;
	d->taps = t;
	d->taps_size = 1;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&d->thread, NULL, drain_run, d);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error == 0)
		return (0);
	bell_close(&d->bell);
	d->taps = NULL;
	d->taps_size = 0;
	return (-1);
}

struct tw_drain *
tw_drain_new(void)
{
	struct tw_drain	*d;

	d = calloc(1, sizeof *d);
	if (d == NULL)
		return (NULL);
	drain_allocate(d, DRAIN_POLLED);
	if (d->fds_room == 0) {
		free(d->fds);
		free(d->polled);
		free(d);
		return (NULL);
	}
	d->owner = getpid();
	pthread_mutex_init(&d->door, NULL);
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->turned, NULL);
	return (d);
}

void
tw_drain_free(struct tw_drain *d)
{
	if (d == NULL || !drain_is_ours(d))
		return;
	pthread_cond_destroy(&d->turned);
	pthread_mutex_destroy(&d->lock);
	pthread_mutex_destroy(&d->door);
	free(d->fds);
	free(d->polled);
	free(d);
}

/* --- taps --- */

static struct tw_tap *
tap_allocate(struct tw_drain *d, const char *path)
{
	struct tw_tap	*t;
	size_t		 size = strlen(path) + 1;

	t = malloc(sizeof *t);
	if (t == NULL)
		return (NULL);
	memset(t, 0, offsetof(struct tw_tap, ring));
	t->path = malloc(size);
	if (t->path == NULL) {
		free(t);
		return (NULL);
	}
	memcpy(t->path, path, size);
	t->drain = d;
	t->spool = -1;
	return (t);
}

/* The tap is the thread's from here on; -1: there is no thread. */
static int
tap_hand_over(struct tw_drain *d, struct tw_tap *t)
{
	int	error = 0;

	pthread_mutex_lock(&d->door);
	if (d->taps_size == 0)
		error = drain_start(d, t);
	else {
		pthread_mutex_lock(&d->lock);
		t->next = d->taps;
		d->taps = t;
		d->taps_size++;
		bell_ring(&d->bell);
		pthread_mutex_unlock(&d->lock);
	}
	pthread_mutex_unlock(&d->door);
	return (error);
}

static void
tap_free(struct tw_tap *t)
{
	if (t->spool >= 0)
		close(t->spool);
	free(t->path);
	free(t);
}

struct tw_tap *
tw_tap_new(struct tw_drain *d, int32_t fd, const char *path, uint64_t limit,
    const uint8_t *first, size_t size)
{
	struct tw_tap	*t;

	if (!drain_is_ours(d) || size > TW_TAP_MEMORY)
		return (NULL);
	t = tap_allocate(d, path);
	if (t == NULL)
		return (NULL);
	t->fd = fd;
	t->limit = limit;
	if (size > 0)
		memcpy(t->ring, first, size);
	t->head = size;
	if (tap_hand_over(d, t) != 0) {
		tap_free(t);
		return (NULL);
	}
	return (t);
}

/* Take a tap back from the thread, and end the thread with the last one. */
static void
tap_take_back(struct tw_drain *d, struct tw_tap *t)
{
	struct tw_reader	*r;
	int			 last;

	pthread_mutex_lock(&d->lock);
	for (r = t->readers; r != NULL; r = r->next) {
		r->tap = NULL;
		bell_ring(&r->bell);
	}
	t->readers = NULL;
	t->closing = 1;
	last = d->taps_size == 1;
	d->stop = last;
	bell_ring(&d->bell);
	while (!t->gone)
		pthread_cond_wait(&d->turned, &d->lock);
	pthread_mutex_unlock(&d->lock);
	if (!last)
		return;
	pthread_join(d->thread, NULL);
	bell_close(&d->bell);
}

void
tw_tap_free(struct tw_tap *t)
{
	struct tw_drain	*d;

	if (t == NULL || !drain_is_ours(t->drain))
		return;
	d = t->drain;
	pthread_mutex_lock(&d->door);
	tap_take_back(d, t);
	pthread_mutex_unlock(&d->door);
	tap_free(t);
}

void
tw_tap_now(struct tw_tap *t, struct tw_tap_now *now)
{
	struct tw_drain	*d = t->drain;

	memset(now, 0, sizeof *now);
	if (!drain_is_ours(d))
		return;
	pthread_mutex_lock(&d->lock);
	now->head = t->head;
	now->base = tap_base(t);
	now->spooled = drain_max(t->spooled, now->base) - now->base;
	now->ended = t->ended;
	now->full = t->full;
	now->reading = t->reading;
	pthread_mutex_unlock(&d->lock);
}

/* Copy [from, from + size) out of the ring. */
static void
tap_copy(const struct tw_tap *t, uint64_t from, uint8_t *to, size_t size)
{
	size_t	at = (size_t)(from % TW_TAP_MEMORY), first;

	first = (size_t)drain_min(size, TW_TAP_MEMORY - at);
	memcpy(to, t->ring + at, first);
	if (size > first)
		memcpy(to + first, t->ring, size - first);
}

/* --- readers --- */

struct tw_reader *
tw_reader_new(struct tw_tap *t)
{
	struct tw_drain		*d = t->drain;
	struct tw_reader	*r;

	if (!drain_is_ours(d))
		return (NULL);
	r = calloc(1, sizeof *r);
	if (r == NULL || bell_init(&r->bell) != 0) {
		free(r);
		return (NULL);
	}
	r->drain = d;
	r->tap = t;
	pthread_mutex_lock(&d->lock);
	r->position = t->started ? t->head : 0;
	t->started = 1;
	r->next = t->readers;
	t->readers = r;
	if (r->position < t->head || t->ended)
		bell_ring(&r->bell);
	pthread_mutex_unlock(&d->lock);
	return (r);
}

/* Room was made: the thread may have something to do. */
static void
reader_moved_on(struct tw_tap *t)
{
	if (t->full || (t->dirty && tap_base(t) >= t->spooled)) {
		t->full = 0;
		bell_ring(&t->drain->bell);
	}
}

void
tw_reader_free(struct tw_reader *r)
{
	struct tw_drain		*d;
	struct tw_reader	**at;

	if (r == NULL || !drain_is_ours(r->drain))
		return;
	d = r->drain;
	pthread_mutex_lock(&d->lock);
	while (r->busy)
		pthread_cond_wait(&d->turned, &d->lock);
	if (r->tap != NULL) {
		at = &r->tap->readers;
		while (*at != r)
			at = &(*at)->next;
		*at = r->next;
		reader_moved_on(r->tap);
	}
	pthread_mutex_unlock(&d->lock);
	bell_close(&r->bell);
	free(r);
}

int32_t
tw_reader_fd(const struct tw_reader *r)
{
	return (r->bell.in);
}

/* Copy what is next into the caller's buffer; -1: the spool cannot be read. */
static ssize_t
reader_copy(const struct tw_reader *r, uint8_t *to, size_t room)
{
	const struct tw_tap	*t = r->tap;
	uint64_t		 size, at = r->position;

	size = drain_min(room, t->head - at);
	if (at >= t->spooled) {
		tap_copy(t, at, to, (size_t)size);
		return ((ssize_t)size);
	}
	size = drain_min(size, t->spooled - at);
	size = drain_min(size, t->limit - at % t->limit);
	return (pread(t->spool, to, (size_t)size, (off_t)(at % t->limit)));
}

/* The rest of tw_reader_take, under lock. */
static size_t
reader_take(struct tw_reader *r, uint8_t *to, size_t room, uint32_t *ended)
{
	struct tw_tap	*t = r->tap;
	ssize_t		 size;
	size_t		 done = 0;

	while (t != NULL && done < room && r->position < t->head) {
		size = reader_copy(r, to + done, room - done);
		if (size <= 0) {
			*ended = 1;
			return (done);
		}
		r->position += (uint64_t)size;
		done += (size_t)size;
	}
	*ended = t == NULL || (t->ended && r->position == t->head);
	if (t != NULL && r->position == t->head && !t->ended)
		bell_hush(&r->bell);
	if (t != NULL && done > 0)
		reader_moved_on(t);
	return (done);
}

size_t
tw_reader_take(struct tw_reader *r, uint8_t *to, size_t room, uint32_t *ended)
{
	struct tw_drain	*d = r->drain;
	size_t		 done;

	*ended = 1;
	if (!drain_is_ours(d))
		return (0);
	pthread_mutex_lock(&d->lock);
	done = reader_take(r, to, room, ended);
	pthread_mutex_unlock(&d->lock);
	return (done);
}

size_t
tw_reader_recall(struct tw_reader *r, uint8_t *to, size_t room, uint64_t *from)
{
	struct tw_drain	*d = r->drain;
	uint64_t	 oldest = 0, size = 0;

	*from = r->position;
	if (!drain_is_ours(d))
		return (0);
	pthread_mutex_lock(&d->lock);
	if (r->tap != NULL) {
		/* The thread may be writing behind head just now. */
		if (r->tap->head + DRAIN_READ > TW_TAP_MEMORY)
			oldest = r->tap->head + DRAIN_READ - TW_TAP_MEMORY;
		if (r->position > oldest)
			size = drain_min(room, r->position - oldest);
		*from = r->position - size;
		tap_copy(r->tap, *from, to, (size_t)size);
	}
	pthread_mutex_unlock(&d->lock);
	return ((size_t)size);
}

void
tw_reader_lend(struct tw_reader *r, struct tw_scan *scan, struct tw_out *out,
    uint8_t *text, size_t room)
{
	struct tw_drain	*d = r->drain;

	if (!drain_is_ours(d) || room == 0)
		return;
	pthread_mutex_lock(&d->lock);
	memset(&r->taken, 0, sizeof r->taken);
	r->out = out;
	r->text = text;
	r->room = room;
	r->due = 0;
	if (r->tap != NULL) {
		r->scan = scan;
		if (reader_is_scanned(r) && r->position < r->tap->head) {
			bell_hush(&r->bell);
			bell_ring(&d->bell);
		}
	}
	pthread_mutex_unlock(&d->lock);
}

void
tw_reader_take_back(struct tw_reader *r, struct tw_taken *taken)
{
	struct tw_drain	*d = r->drain;

	memset(taken, 0, sizeof *taken);
	if (!drain_is_ours(d))
		return;
	pthread_mutex_lock(&d->lock);
	while (r->busy)
		pthread_cond_wait(&d->turned, &d->lock);
	*taken = r->taken;
	memset(&r->taken, 0, sizeof r->taken);
	r->scan = NULL;
	if (r->tap != NULL) {
		if (r->position < r->tap->head || r->tap->ended)
			bell_ring(&r->bell);
		else
			bell_hush(&r->bell);
	}
	pthread_mutex_unlock(&d->lock);
}
