import { existsSync } from 'node:fs'

/** The usual folders of libraries. */
export const LIBRARY_FOLDERS = (
  '/lib/x86_64-linux-gnu /lib/aarch64-linux-gnu /lib/i386-linux-gnu /lib/arm-linux-gnueabihf /lib/riscv64-linux-gnu ' +
  '/lib/powerpc64le-linux-gnu /lib/s390x-linux-gnu /lib64 /lib /usr/lib64 /usr/lib /usr/local/lib'
).split(' ')

/** The path of a file in the first folder of libraries that has it. */
export function inLibraries(name: string): string | undefined {
  return LIBRARY_FOLDERS.map((folder) => `${folder}/${name}`).find((path) => existsSync(path))
}

/** A value of LD_PRELOAD for an environment, with these libraries first. */
export function preload(libraries: readonly string[], env: NodeJS.ProcessEnv): string {
  const before = env['LD_PRELOAD']
  return [...libraries, ...(before === undefined ? [] : [before])].join(' ')
}
