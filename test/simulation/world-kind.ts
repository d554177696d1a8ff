/**
 * | kind     | what it has besides processes of all other kinds                          |
 * | `plain`  | nothing                                                                   |
 * | `rules`  | rules, approvals and delegations, and kernels that run commands           |
 * | `agents` | agents that Reeve drives, with a simulated model and simulated tools      |
 */
export const WORLD_KINDS = ['plain', 'rules', 'agents'] as const
export type WorldKind = (typeof WORLD_KINDS)[number]
