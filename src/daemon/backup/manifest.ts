import { createHash } from 'node:crypto'
import { createReadStream, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { ReeveError } from '../../core/errors.ts'

/** The list of the contents of a backup. It is written last: a folder without it is not a backup. */
export const MANIFEST_NAME = 'manifest.json'

/** Raised when an older Reeve could not restore the folder. */
export const FORMAT = 1

const manifestSchema = z.object({
  format: z.number().int(),
  /** The Reeve that made it. */
  version: z.string(),
  madeAt: z.number(),
  /** The home it was made from. */
  home: z.string(),
  /** The ids of that home's data folder, and of the data folders that were restored into it. */
  dataFolders: z.array(z.string()),
  processes: z.number(),
  /** Paths are relative to the backup, with `/` between folders. */
  files: z.array(z.object({ path: z.string(), bytes: z.number(), sha256: z.string() })),
})

export type Manifest = z.infer<typeof manifestSchema>
export type BackedUpFile = Manifest['files'][number]

/** Reads and checks the manifest of a backup; throws `backup_unusable` for a folder that is not a backup. */
export function readManifest(folder: string): Manifest {
  const parsed = manifestSchema.safeParse(jsonIn(folder))
  if (!parsed.success) throw unusable(folder, `${MANIFEST_NAME} is not complete`)
  const { format, version, files } = parsed.data
  if (format > FORMAT)
    throw unusable(folder, `it was made by Reeve ${version}, which this Reeve is too old to restore`)
  const outside = files.find(({ path }) => path.split('/').some((part) => part === '' || part === '..'))
  if (outside !== undefined) throw unusable(folder, `it names a file outside of itself, ${outside.path}`)
  return parsed.data
}

export async function describeFile(folder: string, path: string): Promise<BackedUpFile> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const piece of createReadStream(join(folder, path))) {
    const chunk = piece as Buffer
    bytes += chunk.length
    hash.update(chunk)
  }
  return { path, bytes, sha256: hash.digest('hex') }
}

export function unusable(folder: string, why: string, cause?: unknown): ReeveError {
  return new ReeveError(
    'backup_unusable',
    `${folder} cannot be restored: ${why}.`,
    'Give the folder that reeve backup printed, or another backup. Nothing was changed.',
    cause === undefined ? {} : { cause },
  )
}

function jsonIn(folder: string): unknown {
  try {
    return JSON.parse(readFileSync(join(folder, MANIFEST_NAME), 'utf8'))
  } catch (error) {
    throw unusable(folder, `it has no readable ${MANIFEST_NAME}`, error)
  }
}
