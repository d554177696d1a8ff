import { refuseExtraArguments } from '../arguments.ts'
import { subcommand } from '../subcommand.ts'

export const version = subcommand({
  name: 'version',
  summary: 'Prints the version of Reeve; also --version, -v',
  usage: ['version'],
  options: {},
  examples: [],
  async run(context) {
    refuseExtraArguments(context, { name: 'version' })
    const version = context.daemon.version()
    if (context.print.isJson) context.print.json({ version, node: process.versions.node })
    else context.print.line(version)
    return 0
  },
})
