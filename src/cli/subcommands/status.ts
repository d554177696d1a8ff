import { ReeveError } from '../../core/errors.ts'
import type { OutputOf, Reeve } from '../../verbs/reeve.ts'
import { refuseExtraArguments } from '../arguments.ts'
import { NOT_FOUND } from '../exit-code.ts'
import { pendingApprovalsIfKnown, pendingText } from '../pending-approvals.ts'
import { lookAtPolicyFile } from '../policy/files.ts'
import { byteCount, clockTime, shortTime } from '../print/times.ts'
import { subcommand } from '../subcommand.ts'

/** How long the daemon may take to answer. */
const TIMEOUT_MS = 5_000

export const status = subcommand({
  name: 'status',
  summary: 'Shows the daemon, the keeper, and how many processes are live',
  usage: ['status [options]'],
  options: {},
  about: 'Starts no daemon. Exit code 3 if none runs.',
  examples: [
    ['reeve status', ''],
    ['reeve status --json | jq .live', 'how many processes have not ended'],
  ],
  async run(context) {
    refuseExtraArguments(context, { name: 'status' })
    const { daemon, home, print, url } = context
    const running = url === undefined ? await daemon.running(home) : null
    if (url === undefined && running === null) {
      if (print.isJson) print.json({ home, daemon: null, keeper: null, live: null })
      else
        print.line(
          `${print.colours.dim('○')} No daemon runs in ${home}. Any subcommand that needs one starts it; so does reeve up.`,
        )
      return NOT_FOUND
    }
    if (running?.stopping === true) {
      if (print.isJson) print.json({ home, daemon: running, keeper: null, live: null })
      else print.line(`${print.colours.dim('○')} The daemon with PID ${running.osPid} is stopping.`)
      return NOT_FOUND
    }
    const reeve = context.quietly()
    try {
      if (running !== null) await lookAtPolicyFile(context, reeve)
      const said = await askStatus(reeve, running?.osPid)
      const pending = print.isJson ? null : await pendingApprovalsIfKnown(reeve)
      if (print.isJson) {
        print.json({ home, ...said, daemon: { ...said.daemon, ...running } })
        return 0
      }
      const { green, red, yellow, bold, dim } = print.colours
      // A daemon of an older version leaves some of it out.
      const { keeper, boot, troubles = [] } = said
      const unreadable = said.unreadable ?? []
      const waiting = said.awaitingApproval ?? 0
      const begun = Math.max(0, said.live - waiting)
      const found = [
        [boot.adopted.length, 'taken over'],
        [boot.completed.length, 'ended meanwhile'],
        [boot.rerun.length, 'rerun'],
        [boot.abandoned.length, 'abandoned'],
      ] as const
      const foundText = found.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
      const up = running === null ? undefined : shortTime(Date.now() - running.startedAt)
      print.line(
        `${troubles.length === 0 ? green('●') : yellow('●')} ${bold('Reeve')} ${running?.version ?? ''} ${dim(up === undefined ? '' : `up ${up}`)}`.trimEnd(),
      )
      print.facts([
        ['daemon', `PID ${said.daemon.osPid}`],
        [
          'keeper',
          keeper === null ? 'none' : `PID ${keeper.osPid}${keeper.available ? '' : red(' (not reachable)')}`,
        ],
        ['running', `${begun} ${begun === 1 ? 'process' : 'processes'}`],
        ['waiting', waiting === 0 ? undefined : `${waiting} for an approval`],
        ['ended', endedText(said.ended)],
        ['on disk', storageText(said.storage)],
        ['address', url ?? running?.url ?? 'its socket alone'],
        ['home', url === undefined ? home : undefined],
        ['since', running === null ? undefined : clockTime(running.startedAt)],
        ['unreadable', unreadable.length === 0 ? undefined : red(unreadable.join(', '))],
        ['at the start', foundText.length === 0 ? undefined : foundText.join(', ')],
      ])
      const waits = pendingText(pending)
      if (waits !== null) print.line(`${yellow('?')} ${waits}`)
      for (const { since, message, remedy } of troubles) {
        print.line(`${red('!')} ${message} ${dim(`(since ${clockTime(since)})`)}`)
        print.line(`  ${remedy}`)
      }
      return 0
    } finally {
      await reeve.close()
    }
  },
})

/** How many ended processes are kept, and the limits. An older daemon does not say. */
function endedText(ended: OutputOf<'status'>['ended'] | undefined): string | undefined {
  if (ended === undefined) return undefined
  const { count, maxAgeMs, maxCount, lastPrune } = ended
  const limits = [
    ...(maxAgeMs === null ? [] : [`for ${shortTime(maxAgeMs)}`]),
    ...(maxCount === null ? [] : [`up to ${maxCount}`]),
  ]
  const pruned = lastPrune === null ? [] : [`${lastPrune.pruned} pruned at ${clockTime(lastPrune.at)}`]
  const kept = `${count} kept${limits.length === 0 ? '' : ` (${limits.join(', ')})`}`
  return [kept, ...pruned].join(', ')
}

function storageText(storage: OutputOf<'status'>['storage'] | undefined): string | undefined {
  const { storeBytes = null, outputBytes = null } = storage ?? {}
  const parts = [
    ...(storeBytes === null ? [] : [`store ${byteCount(storeBytes)}`]),
    ...(outputBytes === null ? [] : [`output ${byteCount(outputBytes)}`]),
  ]
  return parts.length === 0 ? undefined : parts.join(', ')
}

/** Asks for the status, and names a daemon that hangs. */
async function askStatus(reeve: Reeve, osPid: number | undefined) {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  try {
    return await reeve.status({}, { signal })
  } catch (error) {
    if (!signal.aborted) throw error
    const message = `The daemon${osPid === undefined ? '' : ` with PID ${osPid}`} does not answer.`
    throw new ReeveError(
      'daemon_unreachable',
      message,
      'Look at daemon.log in its home; a kill -9 of the daemon loses nothing.',
    )
  }
}
