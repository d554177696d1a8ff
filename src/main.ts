import { readFileSync } from 'node:fs'

const HELP = `Usage: reeve <word>

  demo        two kernels, a kill -9 in the middle, and the proof that nothing was lost
  --help      this text
  --version   which Reeve this is

As a library: import { embed } from 'reeve'. See README.md and docs/embed.md.`

process.exitCode = await main(process.argv.slice(2))

async function main([word, ...rest]: readonly string[]): Promise<number> {
  if (rest.length > 0) return wrong(`reeve ${word} takes nothing more, and was given ${rest.join(' ')}.`)
  switch (word) {
    case 'demo': {
      const { demo } = await import('./demo/demo.ts')
      return demo()
    }
    case '--help':
    case '-h':
      console.log(HELP)
      return 0
    case '--version':
    case '-v':
      console.log(version())
      return 0
    case undefined:
      return wrong('reeve was not told what to do.')
    default:
      return wrong(`reeve does not know the word ${word}.`)
  }
}

function wrong(message: string): number {
  console.error(message)
  console.error('Run reeve --help for the words it knows.')
  return 2
}

/** The package's own file lies one folder above, in a clone (src) as in the package (dist). */
function version(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return String(version)
}
