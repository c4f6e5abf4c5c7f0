/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an OTF2 archive of three MPI ranks: two-sided messages, collectives as
 * Score-P counts their bytes, a communicator whose name looks like attributes,
 * and one of two ranks. test_import_mpi.py reads it back through otf2-print.
 *
 *	otf2_archive FOLDER */
#include <otf2/otf2.h>

#include <stdio.h>

enum { RANKS = 3, START = 1000 };

static OTF2_FlushType flush_before(void *arg, OTF2_FileType type,
				   OTF2_LocationRef location, void *caller,
				   bool final)
{
	return OTF2_FLUSH;
}

static OTF2_TimeStamp flush_after(void *arg, OTF2_FileType type,
				  OTF2_LocationRef location)
{
	return START;
}

static void collective(OTF2_EvtWriter *w, OTF2_TimeStamp at,
		       OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
		       uint64_t sent, uint64_t received)
{
	OTF2_EvtWriter_MpiCollectiveBegin(w, NULL, at);
	OTF2_EvtWriter_MpiCollectiveEnd(w, NULL, at + 5, op, comm, root, sent,
					received);
}

static void events(OTF2_EvtWriter *w, uint32_t rank)
{
	OTF2_EvtWriter_Enter(w, NULL, START, 0);
	if (rank == 0) {
		OTF2_EvtWriter_MpiSend(w, NULL, START + 10, 1, 0, 7, 5000);
		OTF2_EvtWriter_MpiIsend(w, NULL, START + 20, 2, 1, 7, 16, 99);
		OTF2_EvtWriter_MpiIsendComplete(w, NULL, START + 30, 99);
	} else if (rank == 1) {
		OTF2_EvtWriter_MpiRecv(w, NULL, START + 20, 0, 0, 7, 5000);
	} else {
		OTF2_EvtWriter_MpiIrecvRequest(w, NULL, START + 15, 88);
		OTF2_EvtWriter_MpiIrecv(w, NULL, START + 33, 0, 1, 7, 16, 88);
	}
	collective(w, START + 50, OTF2_COLLECTIVE_OP_ALLREDUCE, 0,
		   OTF2_UNDEFINED_UINT32, RANKS * 8, RANKS * 8);
	collective(w, START + 70, OTF2_COLLECTIVE_OP_BCAST, 1, 1,
		   rank == 1 ? RANKS * 8 : 0, 8);
	if (rank < 2)
		collective(w, START + 90, OTF2_COLLECTIVE_OP_BARRIER, 2,
			   OTF2_UNDEFINED_UINT32, 0, 0);
	OTF2_EvtWriter_Leave(w, NULL, START + 100, 0);
}

static void strings(OTF2_GlobalDefWriter *g)
{
	static const char *const text[] = {
		"",    "main",		 "machine",	      "node",
		"MPI", "MPI_COMM_WORLD", "odd \"name, Tag: 5"
	};

	for (uint32_t i = 0; i < sizeof(text) / sizeof(*text); i++)
		OTF2_GlobalDefWriter_WriteString(g, i, text[i]);
}

static void places(OTF2_GlobalDefWriter *g)
{
	static const uint64_t n_events[RANKS] = { 11, 9, 8 };

	OTF2_GlobalDefWriter_WriteClockProperties(g, 1000000000, START, 2000,
						  OTF2_UNDEFINED_TIMESTAMP);
	strings(g);
	OTF2_GlobalDefWriter_WriteRegion(
		g, 0, 1, 1, 0, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER,
		OTF2_REGION_FLAG_NONE, 0, 0, 0);
	OTF2_GlobalDefWriter_WriteSystemTreeNode(
		g, 0, 2, 3, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
	for (uint32_t i = 0; i < RANKS; i++) {
		OTF2_GlobalDefWriter_WriteLocationGroup(
			g, i, 3, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
			OTF2_UNDEFINED_LOCATION_GROUP);
		OTF2_GlobalDefWriter_WriteLocation(
			g, i * 10, 1, OTF2_LOCATION_TYPE_CPU_THREAD,
			n_events[i], i);
	}
}

static void comms(OTF2_GlobalDefWriter *g)
{
	uint64_t locations[] = { 0, 10, 20 }, all[] = { 0, 1, 2 };
	uint64_t two[] = { 1, 0 };

	OTF2_GlobalDefWriter_WriteGroup(g, 0, 4, OTF2_GROUP_TYPE_COMM_LOCATIONS,
					OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
					RANKS, locations);
	OTF2_GlobalDefWriter_WriteGroup(g, 1, 0, OTF2_GROUP_TYPE_COMM_GROUP,
					OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
					RANKS, all);
	OTF2_GlobalDefWriter_WriteGroup(g, 2, 0, OTF2_GROUP_TYPE_COMM_GROUP,
					OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
					2, two);
	OTF2_GlobalDefWriter_WriteGroup(g, 3, 0, OTF2_GROUP_TYPE_COMM_SELF,
					OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
					0, NULL);
	OTF2_GlobalDefWriter_WriteComm(g, 0, 5, 1, OTF2_UNDEFINED_COMM,
				       OTF2_COMM_FLAG_NONE);
	OTF2_GlobalDefWriter_WriteComm(g, 1, 6, 1, 0, OTF2_COMM_FLAG_NONE);
	OTF2_GlobalDefWriter_WriteComm(g, 2, 0, 2, 0, OTF2_COMM_FLAG_NONE);
	OTF2_GlobalDefWriter_WriteComm(g, 3, 0, 3, 0, OTF2_COMM_FLAG_NONE);
}

int main(int argc, char **argv)
{
	OTF2_FlushCallbacks flush = { flush_before, flush_after };
	OTF2_GlobalDefWriter *g;
	OTF2_Archive *a;

	if (argc != 2)
		return 2;
	a = OTF2_Archive_Open(argv[1], "traces", OTF2_FILEMODE_WRITE, 1 << 20,
			      4 << 20, OTF2_SUBSTRATE_POSIX,
			      OTF2_COMPRESSION_NONE);
	OTF2_Archive_SetFlushCallbacks(a, &flush, NULL);
	OTF2_Archive_SetSerialCollectiveCallbacks(a);
	OTF2_Archive_OpenEvtFiles(a);
	for (uint32_t i = 0; i < RANKS; i++) {
		OTF2_EvtWriter *w = OTF2_Archive_GetEvtWriter(a, i * 10);

		events(w, i);
		OTF2_Archive_CloseEvtWriter(a, w);
	}
	OTF2_Archive_CloseEvtFiles(a);
	OTF2_Archive_OpenDefFiles(a);
	for (uint32_t i = 0; i < RANKS; i++)
		OTF2_Archive_CloseDefWriter(
			a, OTF2_Archive_GetDefWriter(a, i * 10));
	OTF2_Archive_CloseDefFiles(a);
	g = OTF2_Archive_GetGlobalDefWriter(a);
	places(g);
	comms(g);
	return OTF2_Archive_Close(a) != OTF2_SUCCESS;
}
