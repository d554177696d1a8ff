import { isLoopback } from '../../client/address.ts'
import { refuseExtraArguments } from '../arguments.ts'
import { subcommand } from '../subcommand.ts'

export const mcp = subcommand({
  name: 'mcp',
  summary: 'Serves an agent the Model Context Protocol on standard input and output',
  usage: ['mcp [options]'],
  options: {
    preset: {
      type: 'text',
      value: 'name',
      about: 'the rules that the session of the agent begins with: observe, ask, edit or full',
    },
    structured: {
      type: 'flag',
      about:
        'answer with structured content beside the text, for programs; agents show it to their model instead of the text',
    },
  },
  about: `
Agents start this program; you need not. The processes of an agent go on when it disconnects, and are there when it comes back: its
session is identified by its name and its working folder. If the daemon is on this machine, commands get the environment of this
program, without secrets.`,
  examples: [
    ['claude mcp add reeve -- reeve mcp', 'Claude Code'],
    ['codex mcp add reeve -- reeve mcp', 'Codex'],
    [
      'claude mcp add reeve -- reeve mcp --preset ask',
      'an agent that reads, and asks you for everything else',
    ],
  ],
  async run(context) {
    refuseExtraArguments(context, { name: 'mcp' })
    const { structured, preset } = context.options
    const quiet = context.quietly()
    try {
      const reeve = await context.reeveForAgent()
      // A token may be bound to a session, and the clock of a remote daemon may differ from this one.
      const isLocal = context.token === undefined && context.url === undefined
      const { session, now, person, readOnly } = isLocal
        ? { session: null, now: Date.now(), person: null, readOnly: false }
        : await reeve.whoami()
      // The token of a person, and not of an agent. Without a token the client is an agent of the user of this home.
      const isOperator = context.token !== undefined && session === null && readOnly !== true
      const operator = isOperator ? person : null
      // Paths and keys of this machine are useless on another one, and must not be sent there.
      const sharesEnvironment = context.url === undefined || isLoopback(new URL(context.url).hostname)
      const startDaemon = () => context.startStopped()
      const shared = { sharesEnvironment, startDaemon }
      const options = {
        session,
        structured,
        since: now,
        ...shared,
        operator,
        preset,
        readOnly: readOnly === true,
      }
      return await context.daemon.mcp(reeve, quiet, options)
    } finally {
      await quiet.close()
    }
  },
})
