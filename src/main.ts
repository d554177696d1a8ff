import { readFileSync } from 'node:fs'

const HELP = `Usage: reeve <word>

  demo      two kernels, a kill -9 in the middle, and the proof that nothing was lost
  help      this text; also --help, -h
  version   which Reeve this is; also --version, -v

As a library: import { embed } from 'reeve'. See README.md, docs/embed.md and docs/commands.md.`

const WORDS = ['demo', 'help', 'version', '--help', '--version']

process.exitCode = await main(process.argv.slice(2))

async function main([word, ...rest]: readonly string[]): Promise<number> {
  if (word === undefined) {
    console.error(HELP)
    return 2
  }
  if (!WORDS.includes(word) && word !== '-h' && word !== '-v') return wrong(unknown(word))
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
  console.error('Run reeve --help for the words it knows.')
  return 2
}

function unknown(word: string): string {
  const [nearest] = WORDS.map((known) => ({ known, distance: distance(word, known) })).sort(
    (a, b) => a.distance - b.distance,
  )
  const meant = nearest !== undefined && nearest.distance <= 2 ? ` Did you mean ${nearest.known}?` : ''
  return `reeve does not know the word ${word}.${meant}`
}

/** How many letters have to be put in, taken out or replaced to make one word of the other. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1]
    for (let column = 0; column < to.length; column++) {
      const replaced = (row[column] ?? 0) + (letter === to[column] ? 0 : 1)
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}

/** The package's own file lies one folder above, in a clone (src) as in the package (dist). */
function version(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return String(version)
}
