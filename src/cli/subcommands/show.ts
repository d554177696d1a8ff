import { requireProcess } from '../arguments.ts'
import { listProcesses } from '../list-processes.ts'
import { localTime } from '../moment.ts'
import { howToAnswer } from '../pending-approvals.ts'
import { amountsText, usedText } from '../print/budget.ts'
import { heldBackText } from '../print/held-back.ts'
import { startOptionRows } from '../print/start-options.ts'
import {
  askedIn,
  commandText,
  type ProcessRecord,
  progressText,
  startFailure,
  statusColour,
} from '../print/status.ts'
import { onOneLine } from '../print/table.ts'
import { ago, byteCount, shortTime } from '../print/times.ts'
import { subcommand } from '../subcommand.ts'

export const show = subcommand({
  name: 'show',
  summary: 'Shows one process: its options, status and resource use',
  usage: ['show [options] <process>'],
  completes: 'process',
  options: {
    reveal: { type: 'flag', about: 'show secrets unmasked; this is recorded with the process' },
  },
  examples: [
    ['reeve show web', 'by its name'],
    ['reeve show p_7k3m --json', 'the whole record'],
  ],
  async run(context) {
    const pid = requireProcess(context, { name: 'show' })
    const { print } = context
    const { colours } = print
    const reeve = await context.acting()
    const record = await reeve.show({ pid, reveal: context.options.reveal })
    if (print.isJson) {
      print.json(record)
      return 0
    }
    const now = Date.now()
    const { outcome, program, owner } = record
    const usage = record.kind === 'command' ? await reeve.usage({ pid: record.pid }).catch(() => null) : null
    const [listed] = await listProcesses(reeve, { pid: [record.pid], status: 'any' }, 1, {
      ports: true,
      budgets: true,
    })
    const budget = listed?.budget
    const failure = startFailure(record)
    const asked = askedIn(record)
    print.facts([
      ['pid', colours.blue(record.pid)],
      ['name', record.name ?? undefined],
      ['command', onOneLine(commandText(record))],
      ['approved', record.effectiveSpec == null ? undefined : 'with changes'],
      ['ran instead', clean(effectiveText(record))],
      ['status', statusColour(record.status, colours)(onOneLine(progressText(record)))],
      ['exit code', outcome?.exitCode === null ? undefined : outcome?.exitCode.toString()],
      ['because', clean(failure?.message)],
      ['to do', clean(failure?.remedy ?? (asked === null ? null : howToAnswer(asked)))],
      ['result', clean(resultText(record))],
      ['folder', clean(record.cwd)],
      ['PID', outcome === null ? program?.osPid.toString() : undefined],
      ['ports', listed?.ports?.map((port) => `:${port}`).join(' ')],
      ['ready', readyText(record)],
      ...startOptionRows(record).map(([key, value]) => [key, clean(value)] as const),
      [hasBegun(record) ? 'started' : 'registered', startedText(record, now)],
      [
        'ended',
        outcome === null ? undefined : `${localTime(outcome.endedAt)} (${ago(outcome.endedAt, now)})`,
      ],
      ['took', outcome?.startedAt == null ? undefined : shortTime(outcome.endedAt - outcome.startedAt)],
      ['lifetime', record.lifetime],
      [
        'owner',
        clean(
          Object.entries(owner)
            .map(([key, value]) => `${key} ${value}`)
            .join(', ') || undefined,
        ),
      ],
      ['parent', record.parent ?? undefined],
      ['restart of', record.restartOf ?? undefined],
      ['started again', clean(restartText(record))],
      [
        'asked to stop',
        record.stopRequest === null || outcome !== null ? undefined : onOneLine(stopText(record, now)),
      ],
      ['CPU', usage?.cpuMs == null ? undefined : shortTime(usage.cpuMs)],
      [
        'memory',
        usage?.peakMemoryBytes == null ? undefined : `${byteCount(usage.peakMemoryBytes)} at its peak`,
      ],
      ['output', usage === null ? undefined : byteCount(usage.outputBytes)],
      [
        'waits',
        record.heldBack === undefined ? undefined : colours.yellow(heldBackText(record.heldBack, now)),
      ],
      ['used in all', budget === undefined ? undefined : usedText(budget)],
      ['used by itself', amountsText(budget?.used ?? {})],
      ['left', amountsText(budget?.left ?? {})],
    ])
    return 0
  },
})

/** The result of a process. A command has its output instead. */
function resultText({ kind, outcome }: ProcessRecord): string | undefined {
  if (kind === 'command' || outcome == null || outcome.result == null) return undefined
  return JSON.stringify(outcome.result)
}

function readyText({ readiness, spec, outcome }: ProcessRecord): string | undefined {
  if (spec['ready'] === undefined) return undefined
  if (readiness === null) return outcome === null ? 'not yet' : undefined
  return readiness.ready ? localTime(readiness.at) : 'not within its time limit'
}

function restartText({ kind, outcome }: ProcessRecord): string | undefined {
  if (kind !== 'command') return undefined
  const { pid, refused } = Object(Object(outcome?.result).restart) as { pid?: unknown; refused?: unknown }
  if (pid !== undefined) return `as ${String(pid)}`
  return refused === undefined ? undefined : `no: ${String(refused)}`
}

/** What a person's edit made of the command. */
function effectiveText(record: ProcessRecord): string | undefined {
  const { effectiveSpec } = record
  return effectiveSpec == null ? undefined : commandText({ ...record, spec: effectiveSpec })
}

/** False for a process that waits for an approval or was denied. */
function hasBegun({ gate, firstStarted, outcome }: ProcessRecord): boolean {
  return gate == null || firstStarted != null || outcome?.startedAt != null
}

function startedText({ firstStarted, createdAt }: ProcessRecord, now: number): string {
  const at = firstStarted?.at ?? createdAt
  return `${localTime(at)} (${ago(at, now)})`
}

function stopText({ stopRequest }: ProcessRecord, now: number): string {
  return `${stopRequest?.how} by ${stopRequest?.source}, ${ago(stopRequest?.at ?? now, now)}: ${stopRequest?.reason}`
}

/** Text that an agent chose must not control the reader's terminal. */
function clean(text: string | null | undefined): string | undefined {
  return text == null ? undefined : onOneLine(text)
}
