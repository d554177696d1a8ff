/**
 * | kind     | what it has besides processes of all other kinds                          |
 * | `plain`  | nothing                                                                   |
 * | `rules`  | rules, approvals and delegations, and kernels that run commands           |
 * | `agents` | agents that Reeve drives, with a simulated model and simulated tools      |
 * | `definitions` | schedules and triggers, with simulated files                         |
 * | `long_term` | such agents with long-term memory, and the jobs that keep it               |
 * | `trees` | such agents below others, with paths of their own, groups and reports         |
 */
export const WORLD_KINDS = ['plain', 'rules', 'agents', 'definitions', 'trees', 'long_term'] as const

/** Whether a kernel drives agents in it. */
export function hasAgents(kind: WorldKind): boolean {
  return kind === 'agents' || kind === 'trees' || kind === 'long_term'
}

export type WorldKind = (typeof WORLD_KINDS)[number]
