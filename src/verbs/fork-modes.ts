/** What a fork may do; a surface that loads no schema lists them. */
export { FORK_MODES } from '../core/agent/fork.ts'
