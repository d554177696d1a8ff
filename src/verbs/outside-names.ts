/** The outside agents that a name is enough for; a surface that loads no schema lists them. */
export { OUTSIDE_NAMES } from '../core/agent/outside.ts'
