import { RefusedError } from '../core/errors.ts'
import { lineDiff } from '../core/files/line-diff.ts'
import type { FoundObject } from '../core/object/found.ts'
import type { ObjectVersion } from '../core/object/object.ts'
import { refusal } from '../core/refusal.ts'
import { fromBase64, toBase64 } from '../core/value/base64.ts'
import type { VersionInHistory } from '../kernel/objects.ts'
import type { OutputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, finderFor } from './action.ts'

type ObjectVerbs =
  | ('putObject' | 'object' | 'objects' | 'objectHistory' | 'diffObject')
  | ('linkObject' | 'revokeObject' | 'releaseObject' | 'mergeObjects')

export function objectActions(parts: ActionParts): ActionsFor<ObjectVerbs> {
  const { kernel, actor } = parts
  const { objects } = kernel
  const { blobs } = kernel.edges.store
  const find = finderFor(parts)

  const textOf = async ({ hash: key, oid, version }: ObjectVersion): Promise<string> => {
    const text = asText((await blobs.get(key)) ?? new Uint8Array())
    if (text !== null) return text
    throw new RefusedError(
      refusal(
        'not_available',
        `Version ${version} of ${oid} is no text, and only texts are compared by lines.`,
        'Compare the hashes of the versions.',
      ),
    )
  }

  return {
    async putObject({ pid, text, data = '', mediaType, ...asked }) {
      const content = text === undefined ? bytesIn(data) : new TextEncoder().encode(text)
      const { type, version } = await objects.put(actor, await find(pid), {
        ...asked,
        content,
        hash: await sha256(content),
        bytes: content.length,
        mediaType: mediaType ?? (text === undefined ? 'application/octet-stream' : 'text/plain'),
      })
      return { type, object: shownVersion(version) }
    },

    async objects({ pid, prefix, after = null, limit }) {
      const { objects: found, next } = await objects.list(actor, await find(pid), { prefix, after, limit })
      return { objects: found.map(shown), next }
    },

    async object({ pid, name, version, maxBytes }) {
      const found = await objects.get(actor, await find(pid), name, version === undefined ? {} : { version })
      const bytes = await blobs.get(found.version.hash)
      if (bytes === null) throw new RefusedError(gone(found.version))
      const isCut = bytes.length > maxBytes
      const part = isCut ? bytes.subarray(0, maxBytes) : bytes
      const text = asText(part, isCut)
      const content = text === null ? { data: toBase64(part) } : { text }
      return { object: shown(found), ...content, isCut }
    },

    async objectHistory({ pid, name }) {
      const versions = await objects.history(actor, await find(pid), name)
      return { versions: versions.map(inHistory) }
    },

    async diffObject({ pid, name, from, to }) {
      const of = await find(pid)
      const get = (version?: number) =>
        objects.get(actor, of, name, { right: 'diff', ...(version === undefined ? {} : { version }) })
      const after = await get(to)
      const before = await get(from ?? Math.max(1, after.version.version - 1))
      const [old, now] = [await textOf(before.version), await textOf(after.version)]
      return { from: inHistory(before), to: inHistory(after), ...lineDiff(old, now) }
    },

    async linkObject({ pid, name, to, as = name, rights, live }) {
      const [giver, holder] = [await find(pid), await find(to)]
      const linked = await objects.link(actor, giver, { name, to: holder, as, rights, live })
      return { handle: linked.handle, object: shown(linked.found) }
    },

    async revokeObject({ handle }) {
      const { by, at } = await objects.revoke(actor, handle)
      return { handle, by, at }
    },

    releaseObject: async ({ pid, name }) => ({
      object: shown(await objects.release(actor, await find(pid), name)),
    }),

    async mergeObjects({ pid, from, policy }) {
      const { merged, skipped, conflicts } = await objects.merge(
        actor,
        await find(pid),
        await find(from),
        policy,
      )
      return { merged: [...merged], skipped: [...skipped], conflicts: [...conflicts] }
    },
  }
}

function shown({ name, version, writer, at, rights, handle }: FoundObject): OutputOf<'object'>['object'] {
  const by = handle === undefined ? {} : { handle: handle.id }
  return { name, ...shownVersion(version), rights: [...rights], writer, at, ...by }
}

function inHistory({ version, writer, at }: VersionInHistory) {
  return { ...shownVersion(version), writer, at }
}

function shownVersion({ tags, ...version }: ObjectVersion) {
  return { ...version, tags: [...tags] }
}

async function sha256(content: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', content))
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

function bytesIn(data: string): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64(data)
  if (bytes !== undefined) return new Uint8Array(bytes)
  throw new RefusedError(
    refusal('invalid_request', 'data is not Base64.', 'Encode the bytes, or give a text.'),
  )
}

/** Null if the bytes are no UTF-8. A text that was cut may end within a character, which is left out. */
function asText(bytes: Uint8Array, isCut = false): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut })
  } catch {
    return null
  }
}

function gone({ oid, version }: ObjectVersion) {
  return refusal(
    'not_found',
    `The content of version ${version} of ${oid} is gone.`,
    'Read a newer version: its process was pruned.',
    { oid, version },
  )
}
