import { isLoopback } from '../../client/address.ts'
import { refuseExtraArguments } from '../arguments.ts'
import { subcommand } from '../subcommand.ts'

export const mcp = subcommand({
  name: 'mcp',
  summary: 'Serves an agent the Model Context Protocol on standard input and output',
  usage: ['mcp [options]'],
  options: {
    structured: {
      type: 'flag',
      about:
        'answers with structured content beside the text, for programs; agents show their model that instead of the text',
    },
  },
  about: `
Agents start this; a person need not. What an agent starts goes on when it disconnects, and is there when it comes
back: its session is its name and the folder it works in. Commands get the variables that this program was started
with, but for secrets, and only if the daemon is on this machine.`,
  examples: [
    ['claude mcp add reeve -- reeve mcp', 'Claude Code'],
    ['codex mcp add reeve -- reeve mcp', 'Codex'],
  ],
  async run(context) {
    refuseExtraArguments(context, { name: 'mcp' })
    const { structured } = context.options
    const quiet = context.quietly()
    try {
      const reeve = await context.reeveForAgent()
      // A token may be bound to a session, and the clock of a daemon elsewhere may differ from the one here.
      const isLocal = context.token === undefined && context.url === undefined
      const { session, now } = isLocal ? { session: null, now: Date.now() } : await reeve.whoami()
      // Paths and keys of this machine are of no use on another one, and do not belong there.
      const sharesEnvironment = context.url === undefined || isLoopback(new URL(context.url).hostname)
      const startDaemon = () => context.startStopped()
      const options = { session, structured, since: now, sharesEnvironment, startDaemon }
      return await context.daemon.mcp(reeve, quiet, options)
    } finally {
      await quiet.close()
    }
  },
})
