import { policyPathOf } from './in-workspace.ts'

/** Tells a folder of one machine from the same path on another one that shares the store; null where no other machine does. */
export type Machine = string | null

/** The subject of the rules that people give for a folder and everything below it. */
export function workspaceSubject(folder: string, machine: Machine): string {
  return `workspace:${on(machine)}${folder}`
}

/** The subject of the rules of a policy file. */
export function fileSubject(folder: string, machine: Machine): string {
  return pathSubject(policyPathOf(folder), machine)
}

/** The subject of a file, or of the folder of a skill, whose versions people trust. */
export function pathSubject(path: string, machine: Machine): string {
  return `file:${on(machine)}${path}`
}

/**
 * The subjects whose rules bind in these folders. Sets that were stored before subjects named a machine bind on every machine, until a
 * person removes them.
 */
export function folderSubjects(folders: readonly string[], machine: Machine): readonly string[] {
  const machines = machine === null ? [null] : [null, machine]
  return folders.flatMap((folder) => [
    ...machines.map((one) => workspaceSubject(folder, one)),
    ...machines.map((one) => fileSubject(folder, one)),
  ])
}

/** A subject for people, without the id of a machine. */
export function subjectText(subject: string): string {
  return subject.replace(ON_MACHINE, '$1:/')
}

/** A subject as callers on a machine see it: only one of another machine has an id. */
export function subjectHere(subject: string, machine: Machine): string {
  return ON_MACHINE.exec(subject)?.[2] === machine ? subjectText(subject) : subject
}

const ON_MACHINE = /^(workspace|file|kept):([^/:]+):\//

/** A path begins with a slash, the id of a machine does not. */
function on(machine: Machine): string {
  return machine === null ? '' : `${machine}:`
}
