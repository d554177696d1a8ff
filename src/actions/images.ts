import type { AgentFile } from '../core/agent-file/agent-file.ts'
import { isNamed } from '../core/capability/is-named.ts'
import { type Need, NO_ATTRIBUTES } from '../core/capability/need.ts'
import { parseNeed } from '../core/capability/parse-need.ts'
import { RefusedError } from '../core/errors.ts'
import { BUILT_IN_IMAGES } from '../core/image/built-in.ts'
import { type Image, imageRefOf, imageText, MAX_IMAGE_CHARS } from '../core/image/image.ts'
import { isRefusal, type Refusal, refusal } from '../core/refusal.ts'
import { refuseAct } from '../kernel/audit.ts'
import { explainEffect } from '../kernel/explain.ts'
import { isFileTrusted } from '../kernel/file-trust.ts'
import { registerImage, removeImage, storedImages } from '../kernel/images.ts'
import type { OutputOf, ParsedInputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, permitOrAudit } from './action.ts'
import { findImage, hashOf, imageFiles, wrongNeed } from './resolve-image.ts'
import { unlessRefused } from './rule-owners.ts'

type ShownImage = OutputOf<'images'>['images'][number]

/** Images: what agents are made of. */
export function imageActions(
  parts: ActionParts,
): ActionsFor<'images' | 'image' | 'registerImage' | 'removeImage'> {
  const { kernel, actor } = parts
  const { edges } = kernel
  return {
    async images({ folder = null }) {
      permitOnFolder(parts, folder)
      const files = await imageFiles(edges, folder)
      const [ofFiles, stored] = await Promise.all([
        Promise.all(files.map((file) => ofFile(parts, file))),
        storedImages(edges.store),
      ])
      const registered = stored.map(
        ({ image, hash, version, at, by }): ShownImage => ({
          ...shown(image),
          hash,
          source: 'registered',
          version,
          registeredAt: at,
          registeredBy: by,
        }),
      )
      const builtIn = BUILT_IN_IMAGES.map(
        (image): ShownImage => ({ ...shown(image), hash: hashOf(edges, image), source: 'built_in' }),
      )
      return { images: [...ofFiles, ...registered, ...builtIn] }
    },
    async image({ name, folder = null }) {
      permitOnFolder(parts, folder)
      const found = unlessRefused(await findImage(edges, imageRefOf(name), folder))
      const untyped: unknown = found.image
      return { ...found, image: untyped as OutputOf<'image'>['image'] }
    },
    async registerImage(input) {
      const image = await imageIn(parts, input)
      await permitImage(parts, image.name)
      checkImage(image)
      const { hash, version } = await registerImage(edges, actor, image)
      return { name: image.name, hash, version }
    },
    async removeImage({ name }) {
      await permitOrAudit(parts, 'removeImage')
      return unlessRefused(await removeImage(edges, actor, name))
    },
  }
}

/** Files of any folder are for those who may read the whole store: whether a file exists is a fact, too. */
export function permitOnFolder(parts: ActionParts, folder: string | null): void {
  if (folder === null) return
  const { kernel, actor } = parts
  if (kernel.edges.authorize(actor, 'read', { type: 'store' }) === undefined) return
  throw new RefusedError(
    refusal(
      'denied',
      `${actor} may not look for images, skills and commands in ${folder}: that needs the right to read the whole store.`,
      'Do it as yourself, without --as, or name a registered image.',
      { subject: actor, right: 'read' },
    ),
  )
}

/** A session or a process registers an image only if an allow names that: agents of other sessions are made from it. */
async function permitImage({ kernel, actor }: ActionParts, name: string): Promise<void> {
  const { edges } = kernel
  const denied = edges.authorize(actor, 'write', { type: 'store' })
  if (denied === undefined) return
  const need: Need = { right: 'write', resource: { kind: 'image', path: name }, attributes: NO_ATTRIBUTES }
  const explained = await explainEffect(edges, need, { actor, cwd: null })
  if (isRefusal(explained)) throw new RefusedError(explained)
  const { ruling, sets } = explained
  const isAllowed =
    ruling.type === 'allow' && isNamed(sets, need, { at: edges.clock.now(), host: kernel.host })
  const refused = isAllowed ? undefined : notAllowed(actor, name)
  await refuseAct(edges, refused, { actor, action: 'registerImage', target: `image:${name}` })
}

async function imageIn(
  { kernel }: ActionParts,
  { image, text = '', file = 'image.yaml' }: ParsedInputOf<'registerImage'>,
): Promise<Image> {
  if (image !== undefined) return image
  const parsed = await kernel.edges.agentFiles?.parseImage(text, file)
  if (parsed?.type === 'image') return parsed.image
  throw new RefusedError(
    refusal(
      'invalid_input',
      `The image cannot be read: ${parsed?.message ?? 'this program reads no files of images'}`,
      'Correct it; docs/image.schema.json has its form.',
      { field: 'text' },
    ),
  )
}

function checkImage(image: Image): void {
  const chars = imageText(image).length
  if (chars > MAX_IMAGE_CHARS)
    throw new RefusedError(
      refusal(
        'payload_too_large',
        `The image ${image.name} has ${chars} characters; at most ${MAX_IMAGE_CHARS} are stored.`,
        'Shorten its system prompt.',
      ),
    )
  const wrong = image.needs?.find((text) => !text.trim().startsWith('shell:') && parseNeed(text) === null)
  if (wrong !== undefined) throw new RefusedError(wrongNeed(image.name, wrong))
}

async function ofFile({ kernel }: ActionParts, file: AgentFile): Promise<ShownImage> {
  const { name, description, path, problem, content } = file
  const common = {
    version: null,
    registeredAt: null,
    registeredBy: null,
    source: 'file',
    path,
    problem,
  } as const
  if (content?.kind !== 'image') return { ...common, name, description, hash: null, state: 'invalid' }
  const state = (await isFileTrusted(kernel.edges, file)) ? 'usable' : 'untrusted'
  return { ...common, name, description, hash: hashOf(kernel.edges, content.image), state }
}

function shown({ name, description = '' }: Image) {
  const none = { path: null, problem: null, version: null, registeredAt: null, registeredBy: null }
  return { name, description, state: 'usable', ...none } as const
}

function notAllowed(actor: string, name: string): Refusal {
  return refusal(
    'denied',
    `${actor} may not register the image ${name}.`,
    `A person can allow it: reeve policy add allow image:${name} --rights write`,
    { subject: actor },
  )
}
