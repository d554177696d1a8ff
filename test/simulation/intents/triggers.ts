import { OVERLAPS } from '../../../src/core/schedule/schedule.ts'
import type { TriggerDefinition, TriggerSource } from '../../../src/core/trigger/trigger.ts'
import { FOLDERS } from '../definitions/simulated-files.ts'
import type { Peer } from '../peer.ts'
import type { Random } from '../random.ts'
import type { World } from '../world.ts'
import type { Request } from './intent.ts'
import { someOccurrence } from './schedules.ts'

const IDS = ['pushed', 'broken', 'dropped'] as const
const STORM = 12

export const triggers: readonly Request[] = [
  {
    name: 'add trigger',
    weight: 3,
    ask({ stage: { random } }, peer, track) {
      const id = random.pick(IDS)
      const definition = someDefinition(random)
      track(`${id} ${JSON.stringify(definition)}`, peer.kernel.triggers.add('host', id, definition))
    },
  },
  {
    name: 'edit trigger',
    weight: 1.5,
    ask({ stage: { random } }, peer, track) {
      const id = random.pick(IDS)
      const { source, overlap, pauseOnFailure, request } = someDefinition(random)
      const changes = random.pick([{ overlap }, { overlap }, { request }, { pauseOnFailure }, { source }])
      track(`${id} ${JSON.stringify(changes)}`, peer.kernel.triggers.edit('host', id, changes))
    },
  },
  {
    name: 'pause trigger',
    weight: 0.7,
    ask({ stage: { random } }, peer, track) {
      const id = random.pick(IDS)
      track(id, peer.kernel.triggers.pause('host', id, null))
    },
  },
  {
    name: 'resume trigger',
    weight: 2.5,
    ask({ stage: { random } }, peer, track) {
      const id = random.pick(IDS)
      track(id, peer.kernel.triggers.resume('host', id))
    },
  },
  {
    name: 'remove trigger',
    weight: 0.2,
    ask({ stage: { random } }, peer, track) {
      const id = random.pick(IDS)
      track(id, peer.kernel.triggers.remove('host', id))
    },
  },
  {
    name: 'run trigger',
    weight: 0.5,
    ask({ stage: { random } }, peer, track) {
      const id = random.pick(IDS)
      const key = random.maybe(0.5, () => `trial ${random.between(1, 3)}`)
      track(id, peer.kernel.triggers.run('host', id, { trial: true }, key))
    },
  },
  {
    name: 'deliver',
    weight: 6,
    ask: (world, peer, track) => {
      const asked = someRequest(world)
      track(saidOf(asked), received(world, peer, asked))
    },
  },
  {
    name: 'storm of deliveries',
    weight: 1,
    ask(world) {
      const { random } = world.stage
      const asked = Array.from({ length: random.between(3, STORM) }, () => someRequest(world))
      // Each of them may come twice, at two kernels.
      for (const one of [...asked, ...asked.filter(() => random.chance(0.3))]) {
        const peer = random.pick(world.open)
        world.track('deliver', peer, saidOf(one), received(world, peer, one))
      }
    },
  },
  {
    name: 'change files',
    weight: 3,
    ask({ files, stage: { random } }) {
      const folder = random.pick(FOLDERS)
      for (let count = random.between(1, 3); count > 0; count--) files.change(folder)
    },
  },
]

interface WebhookRequest {
  readonly trigger: string
  readonly delivery: string
  readonly body: { readonly kind: string }
}

/** Few ids, so that deliveries repeat. A repetition has the same body. */
function someRequest({ stage: { random } }: World): WebhookRequest {
  const number = random.between(1, 60)
  return {
    trigger: random.pick(IDS),
    delivery: `d${number}`,
    body: { kind: number % 10 === 0 ? 'ping' : 'push' },
  }
}

function saidOf({ trigger, delivery, body }: WebhookRequest): string {
  return `${trigger} ${delivery} ${body.kind}`
}

async function received(
  world: World,
  peer: Peer,
  { trigger, delivery, body }: WebhookRequest,
): Promise<void> {
  const answer = await peer.kernel.triggers.receive(trigger, delivery, body)
  if (answer.type !== 'full') world.triggerLaws.acknowledged(trigger, delivery, answer)
}

function someDefinition(random: Random): TriggerDefinition {
  return {
    source: someSource(random),
    overlap: random.pick(OVERLAPS),
    pauseOnFailure: random.chance(0.15),
    request: someOccurrence(random),
  }
}

function someSource(random: Random): TriggerSource {
  const type = random.weighted(['webhook', 'event', 'files'] as const, (one) => SOURCE_WEIGHTS[one])
  switch (type) {
    case 'webhook':
      return { type, filter: random.pick([{}, { kind: 'push' }]), maxBytes: 10_000, maxPerMinute: 1_000 }
    case 'event':
      return {
        type,
        on: random.pick([['ended'], ['started', 'ended'], ['note']]),
        kind: random.pick([['tool'], ['tool', 'workflow']]),
      }
    case 'files':
      return {
        type,
        folder: random.pick(FOLDERS),
        glob: '*',
        debounceMs: random.pick([0, 500, 3_000]),
        place: null,
      }
  }
}

const SOURCE_WEIGHTS = { webhook: 4, event: 3, files: 3 }
