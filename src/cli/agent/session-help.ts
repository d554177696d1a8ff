/** The answer to `/help` in a session. */
export const SESSION_HELP = [
  'a line          waits, and the agent reads it when its turn has ended',
  '!text           the agent reads it before its next step',
  '/name text      a slash command: of the workspace, a skill, or a prompt of an MCP server',
  'Ctrl-C          cancels the turn; at the prompt, or twice, it leaves, and the agent stays',
  'While something waits for your answer, the prompt says so, the oldest first:',
  'y, n [advice]   approves it once, or denies it; Enter means no if it cannot be undone',
  'a reply         of a question: a text, or the number of a choice',
  '> text          waits for the next turn, as a line does otherwise',
  'In another terminal: reeve agent show, allow, model, cancel --drop, pause, end; reeve help agent lists all.',
]
