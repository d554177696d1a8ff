/** How many bytes of the output before its end a terminal shows when it is attached. */
export const SCROLLBACK_BYTES = 64 * 1024
