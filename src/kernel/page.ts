/** How long the events of one page may be together, where they are asked for by page: an answer must fit in one text. */
export const PAGE_BYTES: number = 8 * 1024 * 1024
