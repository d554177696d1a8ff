import { unknownSubcommand } from '../aliases.ts'
import { nothingMore } from '../arguments.ts'
import { overviewHelp, subcommandHelp } from '../help-text.ts'
import { type Word, word } from '../word.ts'

export const help: Word = word({
  name: 'help',
  summary: 'What a word takes, or all words; also --help, -h',
  usage: ['help [word]'],
  completes: 'word',
  options: {},
  examples: [['reeve help run', '']],
  async run(context) {
    nothingMore(context, { name: 'help' }, 1)
    const { args, print, daemon, words } = context
    const [name] = args
    if (name === undefined) {
      for (const line of await overviewHelp(words, print.colours)) print.line(line)
      return 0
    }
    const found = await words.load(name)
    if (found === undefined) throw unknownSubcommand(name, words.names)
    const more = found.moreOptions === undefined ? {} : await found.moreOptions(daemon)
    for (const line of subcommandHelp(found, { ...found.options, ...more }, print.colours, print.width))
      print.line(line)
    return 0
  },
})
