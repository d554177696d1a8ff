import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import { rewoundText, WHY_LEFT } from '../../verbs/rewound-text.ts'
import type { Context } from '../context.ts'
import { FAILED } from '../exit-code.ts'
import { ago } from '../print/times.ts'
import { UsageError } from '../usage-error.ts'
import type { AgentOptions } from './agent-options.ts'
import { textOf } from './session-printer.ts'
import { turnText } from './turn-text.ts'

type Rewound = OutputOf<'rewindAgent'>
type Points = OutputOf<'rewindPoints'>
type Fates = NonNullable<Rewound['fileFates']>

const TURNS_SHOWN = 20
/** Paths and command lines that are printed. `--json` has more. */
const NAMES_SHOWN = 10

/** Goes back to the beginning of a turn or to another branch, or lists both. */
export async function rewind(
  context: Context<AgentOptions>,
  reeve: ReeveVerbs,
  [pid, ...more]: readonly string[],
): Promise<number> {
  const { options } = context
  const { to, branch, label, list } = options
  if (pid === undefined || more.length > 0)
    throw new UsageError(
      'reeve agent rewind takes one agent.',
      'For example: reeve agent rewind fixer --to 3 --undo-files',
    )
  if (list || (to === undefined && branch === undefined)) return listPoints(context, reeve, pid)
  if (to !== undefined && branch !== undefined)
    throw new UsageError(
      '--to and --branch name two places.',
      'Give --to for a turn, or --branch for another branch.',
    )
  const asked = {
    pid,
    ...(branch === undefined ? { turn: to ?? 0 } : { branch }),
    ...(label === undefined ? {} : { label }),
    ...(options['undo-files'] ? { undoFiles: true } : {}),
  }
  if (options['dry-run']) {
    const answer = await reeve.rewindAgent({ ...asked, dryRun: true })
    if (context.print.isJson) context.print.json(answer)
    else printPreview(context, answer)
    return 0
  }
  return goBack(context, reeve, pid, await reeve.rewindAgent(asked))
}

async function goBack(
  { print }: Context<AgentOptions>,
  reeve: ReeveVerbs,
  pid: string,
  answer: Rewound,
): Promise<number> {
  const { turn } = answer
  if (turn === null) {
    if (print.isJson) print.json(answer)
    else {
      printRewound(print, answer)
      if (answer.undone.files.count > 0)
        print.aside(
          `Files were left as they are. ${again(pid, answer)} --undo-files puts back what the agent has changed.`,
        )
    }
    return 0
  }
  const waited = await reeve.waitAgent({ pid, turn })
  const ended = waited.type === 'turn_ended' ? waited.turn : null
  const untyped: unknown = ended?.reason === 'finished' ? ended.result : null
  const fates = untyped as Fates | null
  if (print.isJson) print.json({ ...answer, fileFates: fates })
  else {
    printRewound(print, answer)
    if (fates !== null) printFates(print, fates)
    else print.line(`files: ${ended === null ? `turn ${turn} puts them back` : turnText(ended)}`)
  }
  return ended?.reason === 'finished' ? 0 : FAILED
}

/** The same place, also after the branch has been left. */
function again(pid: string, { last }: Rewound): string {
  return last === null ? `reeve agent rewind ${pid} --to 1` : `reeve agent rewind ${pid} --branch ${last}`
}

function printRewound(print: Context['print'], { left, last, removed, undone }: Rewound): void {
  print.line(rewoundText({ left, last }))
  printUndone(print, undone)
  if (removed !== null)
    print.line(`${print.colours.dim('the input of turn')} ${removed.turn}: ${textOf(removed.parts)}`)
}

function printPreview({ print }: Context<AgentOptions>, answer: Rewound): void {
  const { left, last, undone, fileFates } = answer
  print.line(
    `${rewoundText({ left, last }).replace('was rewound', 'would be rewound').replace('stays', 'would stay')}`,
  )
  printUndone(print, undone)
  if (fileFates !== null) {
    print.line('With --undo-files:')
    printFates(print, fileFates)
  }
  print.aside('Nothing was changed. Leave --dry-run out to do it.')
}

function printUndone(print: Context['print'], undone: Rewound['undone']): void {
  const { turns, selected, modelCalls, toolCalls, commands } = undone
  if (turns > 0)
    print.line(
      `undone: ${counted(turns, 'turn')}, ${counted(modelCalls, 'model call')}, ${counted(toolCalls, 'tool call')}`,
    )
  if (selected > 0) print.line(`selected again: ${counted(selected, 'turn')}`)
  if (commands.count === 0) return
  print.line(`not undone: what ${counted(commands.count, 'command')} did`)
  printNames(print, commands)
}

function printFates(print: Context['print'], { files, restored, removed, left, more }: Fates): void {
  print.line(`files: ${restored} put back, ${removed} removed, ${left} left`)
  for (const { path, fate } of files) {
    if (fate === 'restored') print.line(`  put back  ${path}`)
    else if (fate === 'removed') print.line(`  removed   ${path}`)
    else print.line(`  ${print.colours.yellow('left')}      ${path}: ${WHY_LEFT[fate]}`)
  }
  if (more > 0) print.line(`  and ${more} more`)
}

function printNames(print: Context['print'], { count, first }: Rewound['undone']['commands']): void {
  for (const name of first.slice(0, NAMES_SHOWN)) print.line(`  ${name.split('\n', 1)[0]}`)
  const more = count - Math.min(first.length, NAMES_SHOWN)
  if (more > 0) print.line(`  and ${more} more`)
}

async function listPoints(
  { print, options }: Context<AgentOptions>,
  reeve: ReeveVerbs,
  pid: string,
): Promise<number> {
  const points = await reeve.rewindPoints({ pid, limit: options.last ?? TURNS_SHOWN })
  if (print.isJson) {
    print.json(points)
    return 0
  }
  printTurns(print, points)
  printBranches(print, points)
  const [first] = points.turns
  if (points.next !== null) print.aside('Older turns: --last <count>.')
  if (first !== undefined)
    print.aside(`reeve agent rewind ${pid} --to ${first.turn} goes back to before turn ${first.turn}.`)
  return 0
}

function printTurns(print: Context['print'], { turns }: Points): void {
  const { bold, dim } = print.colours
  const now = Date.now()
  print.table(
    [
      { title: 'TURN', align: 'right' },
      { title: 'BEGAN' },
      { title: 'ENDED' },
      { title: 'CALLS', align: 'right' },
      { title: 'FILES', align: 'right' },
      { title: 'INPUT', flexible: true },
    ],
    turns.map(({ turn, beganAt, reason, toolCalls, files, text, cause }) => [
      { text: String(turn), paint: bold },
      { text: ago(beganAt, now), paint: dim },
      { text: reason.replaceAll('_', ' ') },
      { text: String(toolCalls) },
      { text: String(files) },
      { text: text === '' ? `(${cause})` : text },
    ]),
  )
}

function printBranches(print: Context['print'], { branches }: Points): void {
  if (branches.length === 0) return
  const { bold, dim } = print.colours
  print.line('')
  print.table(
    [
      { title: 'BRANCH', align: 'right' },
      { title: 'LABEL', flexible: true },
      { title: 'TURNS', align: 'right' },
      { title: 'FROM', align: 'right' },
      { title: 'ENDED' },
    ],
    branches.map(({ last, label, turns, from, endedAt }) => [
      { text: String(last), paint: bold },
      { text: label ?? '' },
      { text: String(turns) },
      { text: from === null ? 'the beginning' : `turn ${from}` },
      { text: ago(endedAt, Date.now()), paint: dim },
    ]),
  )
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
