import { readFileSync } from 'node:fs'
import { nearest } from './embed/nearest.ts'

const HELP = `Usage: reeve <command>

  demo      two kernels, a kill -9 in the middle, and the proof that nothing was lost
  help      this text; also --help, -h
  version   which Reeve this is; also --version, -v

As a library: import { embed } from 'reeve'. See README.md, docs/embed.md and docs/commands.md.`

const COMMANDS = ['demo', 'help', 'version', '--help', '--version']

process.exitCode = await main(process.argv.slice(2))

async function main([word, ...rest]: readonly string[]): Promise<number> {
  if (word === undefined) {
    console.error(HELP)
    return 2
  }
  if (!COMMANDS.includes(word) && word !== '-h' && word !== '-v') return wrong(unknown(word))
  if (rest.includes('--help') || rest.includes('-h')) return say(HELP)
  if (rest.length > 0) return wrong(`reeve ${word} takes nothing more, and was given ${rest.join(' ')}.`)
  switch (word) {
    case 'demo': {
      const { demo } = await import('./demo/demo.ts')
      return demo()
    }
    case 'version':
    case '--version':
    case '-v':
      return say(version())
    default:
      return say(HELP)
  }
}

function say(text: string): number {
  console.log(text)
  return 0
}

function wrong(message: string): number {
  console.error(message)
  console.error('Run reeve --help for its commands.')
  return 2
}

function unknown(word: string): string {
  const meant = nearest(word, COMMANDS)
  return `reeve has no command ${word}.${meant === undefined ? '' : ` Did you mean ${meant}?`}`
}

/** The package's own file lies one folder above, in a clone (src) as in the package (dist). */
function version(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return String(version)
}
