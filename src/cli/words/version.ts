import { nothingMore } from '../arguments.ts'
import { word } from '../word.ts'

export const version = word({
  name: 'version',
  summary: 'Which Reeve this is; also --version, -v',
  usage: ['version'],
  options: {},
  examples: [],
  async run(context) {
    nothingMore(context, { name: 'version' })
    const version = context.daemon.version()
    if (context.print.isJson) context.print.json({ version, node: process.versions.node })
    else context.print.line(version)
    return 0
  },
})
