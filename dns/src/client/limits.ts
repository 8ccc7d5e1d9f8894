// Holds the bounds of questions to name servers.

/** Milliseconds that one question waits for its answer, by UDP or by TCP. */
export const QUESTION_TIMEOUT_MS = 2_000
/** Times that a question goes out by UDP, where packets may be lost. */
export const UDP_TRIES = 2
/** Messages by UDP that do not answer the question, each of which costs time to read: a server that sends more has no say. */
export const OTHER_MESSAGES_MAX = 16
/** Bytes of an answer by UDP (DNS flag day 2020): a longer one comes by TCP. */
export const UDP_ANSWER_MAX_BYTES = 1_232
/** Name servers of a zone. No public zone has more than 13. Of one that has, not all can be asked, and so none is. */
export const NAME_SERVERS_MAX = 16
/** Addresses of one name server that are tried. */
export const NAME_SERVER_ADDRESSES_MAX = 4
/** CNAME records that are followed one after another. */
export const CNAMES_MAX = 8
/** Labels of a name whose zone is searched for: each may cost a question at the servers of others, whom an alias names. */
export const LABELS_MAX = 16
/** Records of one message. A name with more is looked up by nobody, and each takes time to read. */
export const RECORDS_MAX = 512
/** Records of types that are not read. Servers add some for extensions. */
export const OTHER_RECORDS_MAX = 16
/** Labels, pointers and strings of one message: 500 records at names of 8 labels. */
export const MESSAGE_PARTS_MAX = 5_000
