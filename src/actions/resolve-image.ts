import { commandLineNeeds } from '../command/resolve-action.ts'
import { isOutsideModel } from '../core/agent/outside.ts'
import type { AgentFile } from '../core/agent-file/agent-file.ts'
import { type Need, NO_ATTRIBUTES } from '../core/capability/need.ts'
import { parseNeed } from '../core/capability/parse-need.ts'
import { RefusedError } from '../core/errors.ts'
import { BASE_IMAGE, builtInImage } from '../core/image/built-in.ts'
import { type Image, imageRefOf, imageText, specWithImage } from '../core/image/image.ts'
import type { Actor } from '../core/process/record.ts'
import { isRefusal, type Refusal, refusal } from '../core/refusal.ts'
import type { Edges } from '../kernel/edges.ts'
import { isFileTrusted } from '../kernel/file-trust.ts'
import { keepVersion, storedImage, unknownImage } from '../kernel/images.ts'
import type { ParsedInputOf } from '../verbs/reeve.ts'

type Input = ParsedInputOf<'spawn'>
type AgentInput = Extract<Input, { readonly kind: 'agent' }>

export interface ResolvedRequest {
  readonly input: Input
  /** What the image names in advance, and the use of the image itself. */
  readonly effects?: readonly Need[]
}

/** Whether the request is about an image, by its own words or by the defaults of this program. */
export function namesImage(edges: Edges, input: Input): input is AgentInput {
  return input.kind === 'agent' && (input.spec.image !== undefined || isDefaulted(edges, input))
}

/**
 * The request for an agent with the values of its image. What the image needs is among the effects that the registration is ruled on, so
 * that a person is asked; nothing of it is granted. A repeated request is made from the version that the first one was made from.
 */
export async function withImage(
  edges: Edges,
  actor: Actor,
  given: AgentInput,
  existing: string | null,
): Promise<ResolvedRequest> {
  const input = isDefaulted(edges, given) ? withDefaults(edges, given) : given
  const { spec } = input
  if (spec.image === undefined) return { input: withDefaultMemory(edges, given, input) }
  const asked = imageRefOf(spec.image)
  const before = existing === null ? null : imageRefOf(existing)
  const ref = asked.hash === null && before?.name === asked.name ? before : asked
  const folder = input.cwd ?? (await parentFolder(edges, input.parent))
  const found = await findImage(edges, ref, folder)
  if (isRefusal(found)) throw new RefusedError(found)
  const { image } = found
  const hash = await keepVersion(edges, actor, image)
  const made = specWithImage(withoutUndefined(spec), image, hash)
  const model = made.model ?? edges.modelDefaults?.().model
  if (model === undefined) throw new RefusedError(withoutModel(image))
  const { budget } = image
  const allowance = input.allowance ?? budget
  return {
    input: withDefaultMemory(edges, given, {
      ...input,
      spec: { ...spec, ...made, model },
      ...(allowance === undefined ? {} : { allowance }),
    } as AgentInput),
    effects: [useOf(image), ...(await needsOfImage(image))],
  }
}

export interface FoundImage {
  readonly image: Image
  readonly hash: string
  readonly source: 'built_in' | 'registered' | 'file'
  readonly path: string | null
}

/** The image that counts: of a trusted file near the folder first, then the registered one, then the built-in one. */
export async function findImage(
  edges: Edges,
  { name, hash }: { readonly name: string; readonly hash: string | null },
  folder: string | null,
): Promise<FoundImage | Refusal> {
  const isAsked = (found: string) => hash === null || found.startsWith(hash)
  const files = await imageFiles(edges, folder)
  let inert: AgentFile | undefined
  const broken = files.find((file) => file.name === name && file.problem !== null)
  for (const file of files) {
    if (file.name !== name || file.content?.kind !== 'image') continue
    const { image } = file.content
    const version = hashOf(edges, image)
    if (!isAsked(version)) continue
    if (await isFileTrusted(edges, file)) return { image, hash: version, source: 'file', path: file.path }
    inert ??= file
  }
  const stored = await storedImage(edges.store, name, hash)
  if (stored !== undefined)
    return { image: stored.image, hash: stored.hash, source: 'registered', path: null }
  const builtIn = builtInImage(name)
  if (builtIn !== undefined && isAsked(hashOf(edges, builtIn)))
    return { image: builtIn, hash: hashOf(edges, builtIn), source: 'built_in', path: null }
  if (inert !== undefined) return untrusted(inert)
  return broken === undefined ? unknownImage(hash === null ? name : `${name}@${hash}`) : unusable(broken)
}

export async function imageFiles(edges: Edges, folder: string | null): Promise<readonly AgentFile[]> {
  const files = (await edges.agentFiles?.find(folder, 'image')) ?? []
  return files
}

export function hashOf({ hash }: Pick<Edges, 'hash'>, image: Image): string {
  return hash(imageText(image))
}

/** The refusal where only a file that no person trusts has what is asked for. */
function untrusted({ kind, name, path, hash }: AgentFile): Refusal {
  return refusal(
    'untrusted',
    `The ${kind} ${name} is in ${path}, which no person has trusted in this version.`,
    `A person looks at it, and runs reeve trust ${path} --hash ${hash.slice(0, SHOWN_HASH_CHARS)}`,
    { path, hash },
  )
}

/** The refusal where the only file of that name cannot be read. */
function unusable({ kind, name, path, problem }: AgentFile): Refusal {
  return refusal(
    'invalid_request',
    `The ${kind} ${name} in ${path} cannot be used: ${(problem ?? '').replace(/\.$/, '')}.`,
    'Correct the file. reeve image list shows what is wrong with each.',
    { path },
  )
}

const SHOWN_HASH_CHARS = 12

/** The defaults are for agents that Reeve drives and that no other process starts. */
function isDefaulted({ agentDefaults }: Edges, { parent, spec }: AgentInput): boolean {
  if (agentDefaults === undefined || parent !== undefined) return false
  return spec.model !== undefined || spec.image !== undefined
}

function withDefaults({ agentDefaults: defaults = {} }: Edges, input: AgentInput): AgentInput {
  const { spec } = input
  const { image, goal, budget } = defaults
  const isOther = image !== undefined && image !== BASE_IMAGE
  return {
    ...input,
    spec: {
      ...spec,
      ...(spec.image === undefined && isOther ? { image } : {}),
      ...(spec.goal === undefined && goal !== undefined ? { goal } : {}),
    },
    ...(input.allowance === undefined && budget !== undefined ? { allowance: budget } : {}),
  }
}

/** The default counts where neither the request nor the image says something. */
function withDefaultMemory(edges: Edges, given: AgentInput, input: AgentInput): AgentInput {
  const memory = edges.agentDefaults?.memory
  const { spec } = input
  if (memory === undefined || !isDefaulted(edges, given) || spec.memory !== undefined) return input
  return isOutsideModel(spec.model) ? input : { ...input, spec: { ...spec, memory } }
}

async function parentFolder({ store }: Edges, parent: string | undefined): Promise<string | null> {
  const row = parent === undefined ? null : await store.ask({ ask: 'process', pid: parent })
  return row?.record.cwd ?? null
}

function withoutUndefined(spec: AgentInput['spec']) {
  const { goal, ...rest } = spec
  return goal === undefined ? rest : { ...rest, goal }
}

function useOf({ name }: Image): Need {
  return { right: 'read', resource: { kind: 'image', path: name }, attributes: NO_ATTRIBUTES }
}

/** The effects that an image names in advance. `shell:` is followed by a command line. */
async function needsOfImage({ name, needs = [] }: Image): Promise<readonly Need[]> {
  if (needs.length === 0) return []
  const ofLine = needs.some(isShell) ? await commandLineNeeds() : () => []
  return needs.flatMap((text) => {
    if (isShell(text)) return ofLine(text.trim().slice(SHELL.length)).map(requested)
    const need = parseNeed(text)
    if (need === null) throw new RefusedError(wrongNeed(name, text))
    return [requested(need)]
  })
}

const SHELL = 'shell:'

function isShell(text: string): boolean {
  return text.trim().startsWith(SHELL)
}

function requested(need: Need): Need {
  return { ...need, attributes: { ...need.attributes, requested: true } }
}

/** Why a need of an image cannot be understood. */
export function wrongNeed(name: string, text: string): Refusal {
  return refusal(
    'invalid_input',
    `The image ${name} needs ${JSON.stringify(text)}, which names no single resource.`,
    'Write a right and a resource, as in write fs:docs, or shell: and a command line.',
    { field: 'needs' },
  )
}

function withoutModel({ name }: Image): Refusal {
  return refusal(
    'invalid_input',
    `The image ${name} names no model, and the request does not either.`,
    'Give spec.model, as provider/model, or store a key of a provider for the daemon: reeve secret set ANTHROPIC_API_KEY.',
    { field: 'spec.model' },
  )
}
