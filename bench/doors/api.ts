import { byCallers, median } from '../clock.ts'
import { type Figure, figure, valueAtMost } from '../figure.ts'
import { type Asked, Asker } from './asker.ts'
import { bareServer } from './bare.ts'
import { type Load, load } from './load.ts'
import type { Setup } from './setup.ts'
import { Daemon } from './start-daemon.ts'

const COMMANDS = 50
const PER_SECOND = 300
const CALLERS = 8
const MAX_MS = 20
const PRINTS = 'i=0; while :; do i=$((i+1)); echo "line $i of a program that prints"; sleep 0.1; done'

/** Requests at a fixed rate while commands print: a third each are list, show, and poll. */
export async function* api(
  setup: Setup,
  { seconds, rounds }: { seconds: number; rounds: number },
): AsyncGenerator<Figure> {
  const daemon = await Daemon.start(setup)
  const server = await bareServer()
  const bare = new Asker(server.said)
  try {
    const pids: string[] = []
    await byCallers(COMMANDS, CALLERS, async () => pids.push(await daemon.run(PRINTS)))
    const requests = mixOf(pids)
    const sizes = await sizesOf(daemon.asker, requests)
    const ours = async () =>
      load({ seconds, perSecond: PER_SECOND }, (index) => daemon.asker.ask(requestAt(requests, index)))
    // The commands go on printing while the floor is measured, too.
    const floor = async () =>
      load({ seconds, perSecond: PER_SECOND }, (index) => bare.ask(ofSize(requestAt(requests, index), sizes)))
    await load({ seconds: WARM_SECONDS, perSecond: PER_SECOND }, (index) =>
      daemon.asker.ask(requestAt(requests, index)),
    )
    await load({ seconds: WARM_SECONDS, perSecond: PER_SECOND }, (index) =>
      bare.ask(ofSize(requestAt(requests, index), sizes)),
    )
    const turns: { ours: Load; floor: Load }[] = []
    for (let round = 0; round < rounds; round++) turns.push({ ours: await ours(), floor: await floor() })
    const of = (what: keyof Load) => median(turns.map((turn) => turn.ours[what]))
    const compared = (what: keyof Load) => ({
      ratio: median(turns.map(({ ours, floor }) => ours[what] / floor[what])),
      against: 'bare HTTP server, as many bytes',
    })
    const name = `API, ${PER_SECOND} requests/s beside ${COMMANDS} commands that print`
    yield figure(`${name}: p99`, of('p99'), 'ms', compared('p99'), valueAtMost(MAX_MS, 'ms'))
    yield figure(`${name}: p50`, of('p50'), 'ms', compared('p50'))
    yield figure(`${name}: answered`, of('perSecond'), 'requests/s', compared('perSecond'))
  } finally {
    bare.close()
    await server.end()
    await daemon.close()
  }
}

const WARM_SECONDS = 2

function mixOf(pids: readonly string[]): readonly Asked[] {
  return pids.flatMap((pid): Asked[] => [
    { path: '/v1/processes' },
    { path: `/v1/processes/${pid}` },
    { method: 'POST', path: `/v1/processes/${pid}/poll`, body: {} },
  ])
}

function requestAt(requests: readonly Asked[], index: number): Asked {
  return requests[index % requests.length] as Asked
}

async function sizesOf(asker: Asker, requests: readonly Asked[]): Promise<ReadonlyMap<Asked, number>> {
  const sizes = new Map<Asked, number>()
  for (const asked of requests) sizes.set(asked, (await asker.ask(asked)).bytes)
  return sizes
}

function ofSize(asked: Asked, sizes: ReadonlyMap<Asked, number>): Asked {
  return { ...asked, path: `/?bytes=${sizes.get(asked)}` }
}
