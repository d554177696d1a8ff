import { emptySet, type RuleSet } from '../core/capability/rule-set.ts'
import type { Change } from '../core/change.ts'
import { type Image, imageText } from '../core/image/image.ts'
import { imageSubject, type RegisteredImage, versionSubject } from '../core/image/registered.ts'
import type { Actor } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import { know, type Store } from '../store/contract.ts'
import type { Edges } from './edges.ts'

/** Sets that one question returns: a store has few images beside its rules. */
const PAGE = 500

/** Registers an image under its name. Its earlier versions stay. The present version again changes nothing. */
export async function registerImage(edges: Edges, actor: Actor, image: Image): Promise<RegisteredImage> {
  const hash = edges.hash(imageText(image))
  const at = edges.clock.now()
  const subject = imageSubject(image.name)
  const registered = await edges.store.write<RegisteredImage>(function* () {
    const was = yield* know({ ask: 'ruleSet', subject })
    if (was?.image?.hash === hash) return { answer: was.image, changes: [] }
    const version = versionSubject(image.name, hash)
    const wasVersion = yield* know({ ask: 'ruleSet', subject: version })
    const next: RegisteredImage = { image, hash, version: (was?.image?.version ?? 0) + 1, at, by: actor }
    const changes: Change[] = [
      { type: 'rule_set', was, ruleSet: setOf(subject, next) },
      { type: 'rule_set', was: wasVersion, ruleSet: setOf(version, next) },
      audited({ actor, action: 'registerImage', target: subject, at, decision: 'granted', hash }),
    ]
    return { answer: next, changes }
  })
  edges.onAudited?.()
  return registered
}

/** Keeps the version that an agent is made from, also if its file changes later. */
export async function keepVersion(edges: Edges, actor: Actor, image: Image): Promise<string> {
  const hash = edges.hash(imageText(image))
  const at = edges.clock.now()
  const subject = versionSubject(image.name, hash)
  const known = await edges.store.ask({ ask: 'ruleSet', subject })
  if (known === null)
    await edges.store.write(function* () {
      const was = yield* know({ ask: 'ruleSet', subject })
      if (was !== null) return { answer: undefined, changes: [] }
      const ruleSet = setOf(subject, { image, hash, version: 0, at, by: actor })
      return { answer: undefined, changes: [{ type: 'rule_set', was, ruleSet }] }
    })
  return hash
}

/** Removes an image with all its versions. Agents that were made from it go on. */
export async function removeImage(
  edges: Edges,
  actor: Actor,
  name: string,
): Promise<{ readonly name: string; readonly versions: number } | Refusal> {
  const subject = imageSubject(name)
  const versions = await versionsOf(edges.store, name)
  const at = edges.clock.now()
  const answer = await edges.store.write<{ name: string; versions: number } | Refusal>(function* () {
    const was = yield* know({ ask: 'ruleSet', subject })
    if (was?.image === undefined) return { answer: notRegistered(name), changes: [] }
    const gone = [subject, ...versions.map(({ hash }) => versionSubject(name, hash))]
    const changes: Change[] = [
      ...gone.map((one) => ({ type: 'rule_set_gone', subject: one }) as const),
      audited({
        actor,
        action: 'removeImage',
        target: subject,
        at,
        decision: 'revoked',
        hash: was.image.hash,
      }),
    ]
    return { answer: { name, versions: versions.length }, changes }
  })
  edges.onAudited?.()
  return answer
}

/** The present version of a name, or the one whose hash begins so. */
export async function storedImage(
  store: Store,
  name: string,
  hash: string | null,
): Promise<RegisteredImage | undefined> {
  if (hash === null) return (await store.ask({ ask: 'ruleSet', subject: imageSubject(name) }))?.image
  return (await versionsOf(store, name)).find((one) => one.hash.startsWith(hash))
}

/** The present versions of all names, in the order of the names. */
export async function storedImages(store: Store): Promise<readonly RegisteredImage[]> {
  const found = await setsFrom(store, 'image:')
  return found.flatMap(({ subject, image }) =>
    image === undefined || subject !== imageSubject(image.image.name) ? [] : [image],
  )
}

export function unknownImage(name: string): Refusal {
  return refusal('not_found', `There is no image ${name}.`, 'List the images with reeve image list.', {
    name,
  })
}

function notRegistered(name: string): Refusal {
  return refusal(
    'not_found',
    `No image ${name} is registered.`,
    'reeve image list shows which are: the others are built in, or files.',
    { name },
  )
}

/** All versions of a name. */
async function versionsOf(store: Store, name: string): Promise<readonly RegisteredImage[]> {
  const found = await setsFrom(store, `image:${name}@`)
  return found.flatMap(({ image }) => image ?? [])
}

async function setsFrom(store: Store, prefix: string): Promise<readonly RuleSet[]> {
  const found: RuleSet[] = []
  for (let after = prefix; ; ) {
    const page = await store.ask({ ask: 'ruleSets', after, limit: PAGE })
    const own = page.filter(({ subject }) => subject.startsWith(prefix))
    found.push(...own)
    const last = page.at(-1)
    if (own.length < PAGE || last === undefined) return found
    after = last.subject
  }
}

function setOf(subject: string, image: RegisteredImage): RuleSet {
  return { ...emptySet(subject), image }
}

function audited(entry: {
  readonly actor: Actor
  readonly action: string
  readonly target: string
  readonly at: number
  readonly decision: 'granted' | 'revoked'
  readonly hash: string
}): Change {
  const { hash, ...rest } = entry
  return { type: 'audit', entry: { ...rest, rule: null, reason: null, inputs: { hash }, trace: null } }
}
