import { isReserved, RESERVED_EVENTS } from '../core/process/event.ts'

/** Events of Reeve's own. Programs append others, of any type. */
export const OWN_EVENTS: readonly string[] = [...RESERVED_EVENTS]

export { isReserved as isOwnEvent }
