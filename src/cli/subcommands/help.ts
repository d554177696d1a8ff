import { unknownSubcommand } from '../aliases.ts'
import { refuseExtraArguments } from '../arguments.ts'
import { overviewHelp, subcommandHelp } from '../help-text.ts'
import { type Subcommand, subcommand } from '../subcommand.ts'

export const help: Subcommand = subcommand({
  name: 'help',
  summary: 'Describes a subcommand, or lists all; also --help, -h',
  usage: ['help [subcommand]'],
  completes: 'subcommand',
  options: {},
  examples: [['reeve help run', '']],
  async run(context) {
    const { args, print, daemon, subcommands } = context
    const [name, action, ...more] = args
    if (name === undefined) {
      for (const line of await overviewHelp(subcommands, print.colours)) print.line(line)
      return 0
    }
    const found = await subcommands.load(name)
    if (found === undefined) throw unknownSubcommand(name, subcommands.names)
    // The help of an action is that of its subcommand: reeve help schedule add.
    const hasAction = found.usage.some((usage) => usage.split(/[ [\]|]+/).includes(action ?? ''))
    if (more.length > 0 || (action !== undefined && !hasAction))
      refuseExtraArguments(context, { name: 'help' }, 1)
    const dynamic = found.moreOptions === undefined ? {} : await found.moreOptions(daemon)
    for (const line of subcommandHelp(found, { ...found.options, ...dynamic }, print.colours, print.width))
      print.line(line)
    return 0
  },
})
