/* SPDX-License-Identifier: Apache-2.0 */
/* Resequencing of headers from one source over L paths (forth.md 7.2 to 7.5),
 * without end of stream.
 *
 * A path keeps order and takes any time; a packet is lost when it is sent,
 * which no receiver can tell from later.  Packets carry, unseen by the
 * protocol, their place in the stream (modulo S): the header taken next must
 * be the very next in the stream, a loss declared must be the loss of the very
 * next.  So each notification, whichever packet has it, comes in order, after
 * all before it have arrived or have been declared lost, and there are no false
 * alarms.
 *
 * Limit of the model: at most W packets between the sender and the place the
 * receiver has reached; a loss shows L * RUN packets later, so W > L * RUN.
 * Not modelled: payload, more sources (they share nothing but the pool), the
 * pool of headers (7.6), error bit 41 (set by the branch that counts a loss).
 *
 * Verdicts, named in models/runs: `disorder`, `phantom` (a loss that was
 * none), `unsync` (7.4: wait for software), `early` (notification before
 * data), at the end of a stream `unseen` (a loss) and `hang` (a header that
 * arrived); Spin's own `deadlock` when the stream stops.  With LIVE also the
 * formula at the end. */

#ifndef L
#define L 2		/* paths */
#endif
#ifndef N
#define N 2		/* packet numbers are modulo N (8 in 7.3) */
#endif
#ifndef W
#define W 5		/* window */
#endif
#ifndef S
#define S 8		/* places are modulo S > W; best if L * N divides S */
#endif
#ifndef RANDOM
#define RANDOM 0	/* 1: any path, known two ahead; 0: round robin */
#endif
#ifndef RUN
#define RUN 0		/* most packets lost in a row on one path; 0: none */
#endif
#ifndef APART
#define APART 1		/* least distance of losses in the stream */
#endif
#ifndef DUP
#define DUP 0		/* a packet may come twice */
#endif
#ifndef STOP
#define STOP 0		/* the stream may end; 2: with a round without losses */
#endif
#ifndef HANG
#define HANG 1		/* verdict `hang` is wanted */
#endif
#ifndef WRITE
#define WRITE 0		/* see below */
#endif
/* When the data are in memory, written by one engine in order of arrival:
 *	0	at once
 *	1	later; a header with notification waits for its own (7.4)
 *	2	later; every header waits for its own
 *	3	later; notifications are written by the same engine
 *	4	as 2, with writes that end in any order
 *	5	as 3, with writes that end in any order */
#define ENGINE	(WRITE > 0)
#define FLAGS	(WRITE == 1 || WRITE == 3 || WRITE == 5)
#define SHUFFLE	(WRITE == 4 || WRITE == 5)

/* place, number, next1, next2, notification */
chan wire[L] = [W + DUP] of { byte, byte, byte, byte, bit };
chan queue[L] = [W + DUP] of { byte, byte, byte, byte, bit };
#if ENGINE
chan engine = [2 * S] of { byte, bit };	/* place, notification */
bit written[S];		/* data in memory, header not taken yet */
bit passed[S];		/* header taken, data not in memory yet */
bit noted[S];		/* notification given to the engine */
#endif
byte tail, next;	/* places of the sender, of the receiver */
bit lost[S];
byte p1, p2 = 1, expect[L];
bool quiet;		/* the stream has ended */
bool disorder, phantom, unsync, early, unseen, hang;
#ifdef LIVE
bit moved;		/* changes when headers are taken */
#define MOVED moved = !moved
#else
#define MOVED skip
#endif

/* How far behind the sender; places in use are never S apart. */
#define AGE(x)		((tail + S - 1 - x) % S)

/* An unknown second path is no path at all. */
#if RANDOM
#define AFTER(p)	L
#else
#define AFTER(p)	((p + 1) % L)
#endif
#define WINDOW		((tail + S - next) % S < W)
#if ENGINE
#define FREE		(!passed[tail] && !noted[tail])
#define DRAINED		empty(engine)
#else
#define FREE		true
#define DRAINED		true
#endif
#if WRITE == 1
#define READY		(!t || written[s])
#elif WRITE == 2 || WRITE == 4
#define READY		written[s]
#else
#define READY		true
#endif

#if ENGINE
/* A notification for place s: data of no packet up to it may be missing. */
inline deliver()
{
	do
	:: i < S -> early = early || (passed[i] && AGE(i) >= AGE(s)); i++
	:: i >= S -> break
	od;
	i = 0;
	assert(!early)
}
#endif

inline notify()
{
#if WRITE == 1
	if
	:: t -> deliver()
	:: !t
	fi
#elif FLAGS
	if
	:: t -> engine!s,1; noted[s] = 1
	:: !t
	fi
#else
	skip	/* taken in order is all that matters */
#endif
}

/* 7.4: the head of queue p1 has the expected number. */
inline take()
{
	queue[p1]?s,n,a,b,t;
	disorder = s != next;
	assert(!disorder);
#if ENGINE
	if
	:: written[s] -> written[s] = 0
	:: !written[s] -> passed[s] = 1
	fi;
#endif
	notify();
	expect[p1] = (expect[p1] + 1) % N;
	p1 = a;
	p2 = b;
	next = (next + 1) % S
}

/* 7.4: it has not, so the expected packet was lost. */
inline miss()
{
	phantom = !lost[next];
	assert(!phantom);
	lost[next] = 0;
	expect[p1] = (expect[p1] + 1) % N;
	unsync = p2 == L;
	assert(!unsync);
	p1 = p2;
	p2 = AFTER(p1);
	next = (next + 1) % S
}

inline resequence()
{
	old = next;
	do
	:: nempty(queue[p1]) ->
		queue[p1]?<s,n,a,b,t>;
		if
		:: n != expect[p1] -> miss()
		:: n == expect[p1] && READY -> take()
		:: n == expect[p1] && !READY -> break
		fi
	:: empty(queue[p1]) -> break
	od;
	if
	:: old != next -> MOVED
	:: old == next
	fi;
	old = 0; s = 0; n = 0; a = 0; b = 0; t = 0
}

proctype path(byte k)
{
	byte i, old, s, n, a, b;
	bit t;

end:	do
	:: d_step { wire[k]?s,n,a,b,t ->
		queue[k]!s,n,a,b,t;
#if ENGINE
		engine!s,0;
#endif
		resequence()
	}
	od
}

#if ENGINE
proctype memory()
{
	byte i, old, s, n, a, b;
	bit t;

end:	do
	:: d_step { engine?s,t ->
		if
		:: t -> deliver(); noted[s] = 0
		:: !t && passed[s] -> passed[s] = 0
		:: !t && !passed[s] -> written[s] = 1
		fi;
		resequence()
	}
	:: d_step { SHUFFLE && len(engine) > 1 ->
		engine?s,t;
		engine!s,t;
		s = 0; t = 0
	}
	od
}
#endif

byte at, n1 = 1, n2;		/* sender: paths of this packet, the next two */
byte number[L], streak[L], since = APART;
byte left;			/* packets of the last round */

/* 7.2: the choices of the sender. */
inline ahead()
{
#if RANDOM
	n2 = 0;
	do
	:: n2 < L - 1 -> n2++
	:: break
	od
#else
	n2 = (n1 + 1) % L
#endif
}

inline transmit()
{
	wire[at]!tail,number[at],n1,n2,t;
	if
	:: true
	:: DUP && nfull(wire[at]) -> wire[at]!tail,number[at],n1,n2,t
	fi;
	streak[at] = 0;
	if
	:: since < APART -> since++
	:: else
	fi
}

inline lose()
{
	lost[tail] = 1;
	streak[at]++;
	since = 1
}

proctype sender()
{
	bit t;

	atomic { ahead() };
	do
	:: atomic { !quiet && WINDOW && FREE && !(STOP == 2 && left == 1) ->
		if
		:: true
		:: FLAGS -> t = 1
		fi;
		if
		:: true -> transmit()
		:: !left && streak[at] < RUN && since >= APART -> lose()
		fi;
		number[at] = (number[at] + 1) % N;
		tail = (tail + 1) % S;
		at = n1;
		n1 = n2;
		ahead();
		t = 0;
		if
		:: left -> left--
		:: else
		fi
	}
	:: atomic { STOP == 1 && !quiet -> quiet = true }
	:: atomic { STOP == 2 && !left && !quiet -> left = L + 1 }
	:: atomic { STOP == 2 && left == 1 -> left = 0; quiet = true }
	:: quiet -> break
	od
}

#define STILL	(quiet && DRAINED && empty(wire[0]) && empty(wire[1]) && \
		 empty(wire[L - 1]) && empty(wire[L - 2]))

#if STOP
/* The end: nothing is on the way any more. */
proctype epilogue()
{
	byte i;

	atomic {
		STILL;
		do
		:: i < L -> hang = hang || (HANG && nempty(queue[i])); i++
		:: else -> break
		od;
		assert(!hang);
		unseen = next != tail;
		assert(!unseen)
	}
}
#endif

init
{
	byte k;

	atomic {
		run sender();
		do
		:: k < L -> run path(k); k++
		:: else -> break
		od;
#if ENGINE
		run memory();
#endif
#if STOP
		run epilogue();
#endif
	}
}

#ifdef LIVE
/* With round robin the stream goes on whatever is lost. */
ltl live { []<> moved && []<> !moved }
#endif
