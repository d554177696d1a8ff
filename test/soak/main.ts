/**
 * Commands by the hundred under a daemon that is killed every second: `npm run soak -- --minutes 2 [--keeper] [--seed n]`.
 * The last line says whether every line, every exit code and every outcome is right, and so does the exit code.
 *
 * `--few-descriptors` runs more commands than daemon and keeper may have descriptors for.
 */
import { parseArgs } from 'node:util'
import { OPEN_FILES, soakFewDescriptors } from './few-descriptors.ts'
import { soak } from './soak.ts'

const HELP = `npm run soak -- [options]

  --minutes <n>    how long, 2 by default; 0.2 is 12 seconds
  --keeper         kills keepers too
  --commands <n>   how many run at once, 50 by default
  --seed <n>       repeats the choices of an earlier run, though not its timing

  --few-descriptors   more commands than daemon and keeper have descriptors for, with --minutes and --seed
`
const MOST_PROBLEMS = 20

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    commands: { type: 'string', default: '50' },
    keeper: { type: 'boolean', default: false },
    'few-descriptors': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const [minutes, seed, commands] = [values.minutes, values.seed, values.commands].map(Number)
const isUsable = [minutes, seed, commands].every((value) => Number.isFinite(value)) && Number(commands) >= 1
if (values.help || !isUsable) {
  process.stdout.write(HELP)
  process.exit(values.help ? 0 : 2)
}

const say = (line: string) => void process.stdout.write(`${line}\n`)
if (values['few-descriptors']) await withFewDescriptors()
else await withKills()

async function withFewDescriptors(): Promise<void> {
  say(`${OPEN_FILES} descriptors for ${minutes} minutes, seed ${seed}`)
  const report = await soakFewDescriptors({ minutes: Number(minutes), seed: Number(seed), say })
  for (const problem of report.problems.slice(0, MOST_PROBLEMS)) say(`  ${problem}`)
  const counts = `${report.begun} commands begun, ${report.mostAtOnce} at once, ${report.refused} refused, ${report.killed} killed`
  if (report.problems.length === 0) {
    say(`The soak held: ${counts}; every refusal was too_many_commands, every kill ended. Seed ${seed}.`)
  } else {
    say(`The soak FAILED: ${report.problems.length} problems; ${counts}. Seed ${seed}.`)
    process.exitCode = 1
  }
}

async function withKills(): Promise<void> {
  const { keeper } = values
  say(
    `${commands} commands at once for ${minutes} minutes, seed ${seed}${keeper ? ', keepers are killed too' : ''}`,
  )
  const report = await soak({
    minutes: Number(minutes),
    seed: Number(seed),
    commands: Number(commands),
    keeper,
    say,
  })
  for (const problem of report.problems.slice(0, MOST_PROBLEMS)) say(`  ${problem}`)
  const counts = [
    `${report.ended} commands`,
    `${report.daemonsKilled} daemons killed, amid ${report.spawnsCut} spawns`,
    ...(keeper
      ? [`${report.keepersKilled} keepers killed`, `${report.abandoned} commands abandoned with evidence`]
      : []),
  ].join(', ')
  if (report.problems.length === 0) {
    const rest = keeper
      ? 'what could live on lost no line, nothing was made up'
      : 'every line once and in order, every exit code right'
    say(`The soak held: ${counts}; ${rest}; nothing is left behind. Seed ${seed}.`)
  } else {
    say(`The soak FAILED: ${report.problems.length} problems; ${counts}. Seed ${seed}.`)
    process.exitCode = 1
  }
}
