/** Every tool of Reeve. */
export const TOOLS = [
  'human_ask',
  'inbox',
  'interrupt',
  'process_kill',
  'process_list',
  'process_log',
  'process_poll',
  'process_restart',
  'process_screen',
  'process_search',
  'process_start',
  'process_wait',
  'process_write',
] as const

export type ToolName = (typeof TOOLS)[number]
