import type { Rule } from '../../../src/core/capability/rule.ts'
import type { Actor } from '../../../src/core/process/record.ts'
import { forgetPolicyFile, trustPolicyFile, untrustPolicyFile } from '../../../src/kernel/policy-files.ts'
import { FOLDERS, type Folder } from '../authority/policy-folders.ts'
import { REVIEWER } from '../authority/reviews.ts'
import type { World } from '../world.ts'
import { someAct, textOf } from './gated.ts'
import type { Request } from './intent.ts'
import { someSession } from './requests.ts'
import { orThrow, someResource } from './rules.ts'

/** Policy files: agents write them, people trust them. */
export const files: readonly Request[] = [
  {
    name: 'change a policy file',
    weight: 4,
    ask(world) {
      changeFile(world, world.stage.random.pick(FOLDERS))
    },
  },
  {
    name: 'act after a change of a policy file',
    weight: 4,
    ask(world, peer, track) {
      const { random } = world.stage
      const folder = random.pick(FOLDERS)
      const hash = changeFile(world, folder)
      const actor: Actor = `session:${someSession(world)}`
      const request = { ...someAct(random), ...(random.chance(0.7) ? { cwd: folder } : {}) }
      const { changes } = world.policies
      const asked = peer.kernel.register([{ request, actor }])
      track(`${actor} ${textOf(request)}`, asked, () => {
        if (request.kind !== 'command' || request.cwd !== folder || hash === null) return
        if (world.policies.changes !== changes) return
        if (!world.rules.files.loaded.has(`file:${folder}/.reeve/policy.json ${hash}`))
          world.stage.violated('a policy file counts as it is', `${hash} of ${folder} was not loaded`)
      })
    },
  },
  {
    name: 'trust a policy file',
    weight: 2,
    ask(world, peer, track) {
      const file = world.policies.fileOf(world.stage.random.pick(FOLDERS))
      if (file === undefined || file.problems.length > 0) return
      const { folder, hash } = file
      track(`${folder} ${hash}`, orThrow(trustPolicyFile(peer.kernel.edges, 'human:ada', file)))
    },
  },
  {
    name: 'untrust a policy file',
    weight: 2,
    ask(world, peer, track) {
      const folder = world.stage.random.pick(FOLDERS)
      track(folder, orThrow(untrustPolicyFile(peer.kernel.edges, 'human:ada', folder)))
    },
  },
  {
    name: 'forget a policy file',
    weight: 1,
    ask(world, peer, track) {
      const folder = world.stage.random.pick(FOLDERS)
      track(folder, orThrow(forgetPolicyFile(peer.kernel.edges, 'human:ada', folder)))
    },
  },
]

/** Answers the hash of the new content; null if the file is gone or broken. */
function changeFile({ stage, policies }: World, folder: Folder): string | null {
  const { random, now } = stage
  const before = policies.fileOf(folder)
  if (before !== undefined && random.chance(0.1)) {
    policies.remove(folder)
    stage.say('world', `${folder} has no policy file`)
    return null
  }
  const [earlier] = [...policies.contentsOf(folder)].reverse().slice(1)
  if (before !== undefined && earlier !== undefined && random.chance(0.2)) {
    policies.putBack(folder, earlier)
    stage.say('world', `${folder} has its policy file ${earlier} again`)
    return earlier
  }
  const rules = Array.from({ length: random.between(0, 3) }, (_, index) => someFileRule(random, index))
  const isBroken = random.chance(0.1)
  const hash = policies.write(folder, rules, isBroken, now)
  stage.say('world', `${folder} has ${isBroken ? 'a broken' : 'another'} policy file ${hash}`)
  return isBroken ? null : hash
}

function someFileRule(random: World['stage']['random'], index: number): Rule {
  const effect = random.weighted(['ask', 'deny', 'allow'] as const, (one) => WEIGHTS[one])
  const reviewer = effect === 'ask' && random.chance(0.4) ? { reviewer: REVIEWER } : {}
  return { id: `r${index + 1}`, effect, rights: ['execute'], ...someResource(random), ...reviewer }
}

const WEIGHTS = { ask: 4, deny: 0.5, allow: 1 }
