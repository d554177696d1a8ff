/** The longest delay that a timer of Node can have; longer waits are cut into several timers. */
export const MAX_TIMER_MS = 2 ** 31 - 1
