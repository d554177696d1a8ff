import { join } from 'node:path'
import type { AgentFile, AgentFileKind } from '../core/agent-file/agent-file.ts'
import { foldersAbove } from '../core/capability/in-workspace.ts'
import { IMAGE_ENDINGS, parseImage } from './parse-image.ts'
import { commandsIn } from './read-commands.ts'
import { filesIn, hashOf } from './read-folder.ts'
import { hooksIn } from './read-hooks.ts'
import { skillsIn } from './read-skill.ts'

/** Folders that are looked at for a workspace: deep enough for any repository. */
const MAX_FOLDERS = 64

/**
 * The files that define something for the agents of a folder: those of the folder and of all folders above it, the nearest first, and
 * those of the home. `folder` is absolute, after symbolic links; null: of the home alone.
 */
export async function findAgentFiles(
  folder: string | null,
  home: string | null,
  kind?: AgentFileKind,
): Promise<readonly AgentFile[]> {
  const above = folder === null ? [] : [...foldersAbove(folder)].reverse().slice(0, MAX_FOLDERS)
  const places = [
    // The home may be above the workspace: it is looked at once, as the home.
    ...above
      .filter((workspace) => join(workspace, '.reeve') !== home)
      .map((workspace) => ({ workspace, root: workspace })),
    ...(home === null ? [] : [{ workspace: null, root: home }]),
  ]
  const found = await Promise.all(places.map((place) => filesOf(place, kind)))
  return found.flat()
}

interface Place {
  readonly workspace: string | null
  readonly root: string
}

async function filesOf(place: Place, kind: AgentFileKind | undefined): Promise<readonly AgentFile[]> {
  const { workspace, root } = place
  // The home itself is a `.reeve` folder.
  const roots =
    workspace === null
      ? [{ root, isForeign: false }]
      : [
          { root: join(root, '.reeve'), isForeign: false },
          { root: join(root, '.claude'), isForeign: true },
        ]
  const isAsked = (one: AgentFileKind) => kind === undefined || kind === one
  const found = await Promise.all(
    roots.flatMap(({ root: own, isForeign }) => [
      ...(isAsked('image') ? [imagesIn(place, join(own, 'agents'), isForeign)] : []),
      ...(isAsked('command') ? [commandsIn(join(own, 'commands'), workspace)] : []),
      ...(isAsked('hooks') && !isForeign ? [hooksIn(own, workspace)] : []),
      ...(isAsked('skill') ? [skillsIn(join(own, 'skills'), workspace)] : []),
    ]),
  )
  return found.flat()
}

async function imagesIn(
  { workspace }: Place,
  folder: string,
  isForeign: boolean,
): Promise<readonly AgentFile[]> {
  const files = await filesIn(folder, isForeign ? ['.md'] : IMAGE_ENDINGS)
  return Promise.all(
    files.map(async ({ path, bytes }): Promise<AgentFile> => {
      const parsed = await parseImage(bytes.toString('utf8'), path, isForeign)
      const hash = hashOf(bytes)
      const file = { kind: 'image', path, workspace, hash } as const
      if (parsed.type === 'problem')
        return { ...file, name: nameOf(path), description: '', problem: parsed.message }
      const { image } = parsed
      const { name, description = '' } = image
      return { ...file, name, description, problem: null, content: { kind: 'image', image } }
    }),
  )
}

function nameOf(path: string): string {
  return path.replace(/^.*\//s, '').replace(/\.[^.]*$/, '')
}
