import { join } from 'node:path'
import { byCallers, inTurns, now } from '../clock.ts'
import { type Figure, figure, ratioAtLeast } from '../figure.ts'
import { runIntoFile } from './bare.ts'
import { command, freshFolder, openReeve, type Setup } from './setup.ts'

const CALLERS = 8
const WARM_UP = 24

/** `true`, from the call until its end is known; with Reeve each has a durable record and outcome by then. */
export async function* turnover(
  setup: Setup,
  { count, rounds }: { count: number; rounds: number },
): AsyncGenerator<Figure> {
  const { reeve, close } = await openReeve(setup)
  const logs = freshFolder(setup, 'bare')
  let serial = 0
  const ours = (times: number) =>
    rate(times, async () => {
      const { record } = await reeve.spawn(command('true'))
      await reeve.wait({ pid: record.pid })
    })
  const floor = (times: number) => rate(times, () => runIntoFile('true', join(logs, `${serial++}.log`)))
  try {
    await ours(WARM_UP)
    await floor(WARM_UP)
    const { first, ratio } = await inTurns(
      rounds,
      () => ours(count),
      () => floor(count),
    )
    const { processes } = await reeve.list({ filter: { status: ['failed', 'abandoned', 'cancelled'] } })
    if (processes.length > 0) throw new Error(`${processes.length} commands did not end with code 0.`)
    yield figure(
      `turnover of true, ${count} ×, ${CALLERS} at once`,
      first,
      'commands/s',
      { ratio, against: 'bare spawn into a file' },
      ratioAtLeast(0.6),
    )
  } finally {
    await close()
  }
}

async function rate(count: number, one: () => Promise<void>): Promise<number> {
  const begun = now()
  await byCallers(count, CALLERS, one)
  return (count / (now() - begun)) * 1_000
}
