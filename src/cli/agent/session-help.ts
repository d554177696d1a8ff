/** The answer to `/help` in a session. */
export const SESSION_HELP = [
  'a line          waits, and the agent reads it when its turn has ended',
  '!text           the agent reads it before its next step',
  '/name text      a slash command: of the workspace, a skill, or a prompt of an MCP server',
  'Ctrl-C          cancels the turn; at the prompt, or twice, it leaves, and the agent stays',
  'In another terminal: reeve agent show, cancel --drop, pause, end; reeve help agent lists all.',
]
