import { refuseExtraArguments } from '../arguments.ts'
import { type Listed, listProcesses } from '../list-processes.ts'
import { usedText } from '../print/budget.ts'
import { cutTo, displayWidth } from '../print/display-width.ts'
import { commandText, statusColour, statusText } from '../print/status.ts'
import { onOneLine } from '../print/table.ts'
import { subcommand } from '../subcommand.ts'

type ProcessRecord = Listed['record']

export const tree = subcommand({
  name: 'tree',
  summary: 'Shows processes as a tree of parents and children',
  usage: ['tree [options] [process]'],
  completes: 'process',
  options: {
    all: { type: 'flag', short: 'a', about: 'also trees without a live process' },
    session: { type: 'texts', value: 'id', about: 'only processes of this session' },
  },
  examples: [
    ['reeve tree', 'all trees with a live process'],
    ['reeve tree release', 'the tree below one process'],
  ],
  async run(context) {
    refuseExtraArguments(context, { name: 'tree' }, 1)
    const { print, options, args } = context
    const reeve = await context.acting()
    const [top] = args
    const session = options.session.length === 0 ? {} : { owner: { session: [...options.session] } }
    const from = top === undefined ? null : await reeve.show({ pid: top })
    const filter = { ...session, ...(from === null ? {} : { root: from.root }), status: 'any' as const }
    const listed = await listProcesses(reeve, filter, Number.POSITIVE_INFINITY, { budgets: true })
    const budgets = new Map(listed.map(({ record, budget }) => [record.pid, budget]))
    const records = listed.map(({ record }) => record)
    const alive = new Set(records.filter(({ outcome }) => outcome === null).map(({ root }) => root))
    const shown = records.filter(({ root }) => options.all || from !== null || alive.has(root))
    const known = new Set(shown.map(({ pid }) => pid))
    const tops = from === null ? shown.filter(({ parent }) => parent === null || !known.has(parent)) : [from]
    if (print.isJson) {
      print.jsonList(tops.map((record) => nested(record, shown, budgets)))
      return 0
    }
    const lineOf = (record: ProcessRecord, before: string) => {
      const { colours, width } = print
      const name = record.name ?? record.pid
      const budget = budgets.get(record.pid)
      const used = budget === undefined ? '' : `(${usedText(budget)})  `
      const status = statusText(record)
      const room =
        width === undefined
          ? Number.POSITIVE_INFINITY
          : width - displayWidth(`${before}${name}${status}${used}`) - 4
      const what = cutTo(onOneLine(commandText(record)), Math.max(0, room))
      print.line(
        `${colours.dim(before)}${colours.bold(name)}  ${statusColour(record.status, colours)(status)}  ${colours.dim(used)}${what}`.trimEnd(),
      )
    }
    for (const record of tops) printTree(record, shown, lineOf)
    return 0
  },
})

function printTree(
  top: ProcessRecord,
  all: readonly ProcessRecord[],
  lineOf: (record: ProcessRecord, before: string) => void,
): void {
  const below = (record: ProcessRecord, before: string) => {
    const children = childrenOf(record, all)
    for (const [index, child] of children.entries()) {
      const isLast = index === children.length - 1
      lineOf(child, `${before}${isLast ? '└─ ' : '├─ '}`)
      below(child, `${before}${isLast ? '   ' : '│  '}`)
    }
  }
  lineOf(top, '')
  below(top, '')
}

function nested(
  record: ProcessRecord,
  all: readonly ProcessRecord[],
  budgets: ReadonlyMap<string, Listed['budget']>,
): unknown {
  const budget = budgets.get(record.pid)
  const children = childrenOf(record, all).map((child) => nested(child, all, budgets))
  return { ...record, ...(budget === undefined ? {} : { budget }), children }
}

function childrenOf({ pid }: ProcessRecord, all: readonly ProcessRecord[]): ProcessRecord[] {
  return all.filter(({ parent }) => parent === pid)
}
