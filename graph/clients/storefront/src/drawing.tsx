// Drawings instead of photos: shapes chosen by file name, on a background chosen by
// product id.
import type { ReactNode } from 'react'

const saucer = <ellipse cx="58" cy="70" rx="34" ry="5" fill="var(--d-line)" opacity=".25" />
const steam = <path d="M50 22q-4-5 0-10M60 22q-4-5 0-10M70 22q-4-5 0-10" className="d-stroke" opacity=".5" />

const cup = (top: string, art?: ReactNode) => <>
  {saucer}
  {steam}
  <path d="M84 40h6a8 8 0 0 1 0 16h-9" className="d-stroke" strokeWidth="4" />
  <path d="M34 34h50v12a22 22 0 0 1-22 22h-6a22 22 0 0 1-22-22z" fill="var(--d-china)" />
  <ellipse cx="59" cy="34" rx="25" ry="6" fill="var(--d-china)" />
  <ellipse cx="59" cy="34" rx="22" ry="4.5" fill={top} />
  {art}
</>

const foam = <path d="M59 31.5c-5-2-10 0-10 2.5 0 2 5 3 10 3.5 5-.5 10-1.5 10-3.5 0-2.5-5-4.5-10-2.5z" fill="var(--d-milk)" opacity=".9" />

const glass = (filled: ReactNode) => <>
  <ellipse cx="60" cy="76" rx="24" ry="4" fill="var(--d-line)" opacity=".25" />
  <path d="M42 18h36l-4 56H46z" fill="var(--d-china)" opacity=".55" />
  {filled}
</>

const latte = glass(<>
  <path d="M43 32h34l-2.9 40H45.9z" fill="#b9875a" />
  <path d="M42.7 28h34.6l-.7 10H43.4z" fill="var(--d-milk)" />
  <path d="M44.3 50h31.4l-.6 8H44.9z" fill="#d6ad83" />
</>)

const iced = glass(<>
  <path d="M43.3 28h33.4l-3 45H46.3z" fill="#5a3420" />
  <rect x="48" y="30" width="11" height="11" rx="2" fill="#fff" opacity=".55" transform="rotate(12 53 35)" />
  <rect x="61" y="36" width="11" height="11" rx="2" fill="#fff" opacity=".45" transform="rotate(-14 66 41)" />
  <path d="M66 8l-6 60" className="d-stroke" strokeWidth="3" />
</>)

const tea = cup('#b5651d', <>
  <path d="M72 35q6 10 4 16" className="d-stroke" strokeWidth="1.5" />
  <rect x="72" y="50" width="9" height="10" rx="1" fill="#7c9a5b" />
</>)

const mug = <>
  {saucer}
  <path d="M78 34h8a9 9 0 0 1 0 24h-8" className="d-stroke" strokeWidth="5" />
  <rect x="36" y="24" width="44" height="46" rx="6" fill="var(--d-accent)" />
  <path d="M50 58V42a8 8 0 0 1 16 0v16" fill="none" stroke="var(--d-china)" strokeWidth="3.5" />
  <path d="M45 58h26" stroke="var(--d-china)" strokeWidth="3.5" />
</>

const croissant = <>
  {saucer}
  <path d="M26 62c-2-20 14-38 34-38s36 18 34 38c-5 4-11 1-13-6-3-9-11-14-21-14s-18 5-21 14c-2 7-8 10-13 6z" fill="#d9964a" />
  <path d="M43 31l5 14M56 24.5l1 17M70 26.5l-4 16M82 36l-9 12M34 42l8 9" stroke="#a8662a" strokeWidth="2.5" strokeLinecap="round" fill="none" />
</>

const pain = <>
  {saucer}
  <rect x="28" y="36" width="64" height="30" rx="13" fill="#d9964a" />
  <path d="M46 37v28M60 36v30M74 37v28" stroke="#a8662a" strokeWidth="2.5" />
  <circle cx="31" cy="47" r="3.5" fill="#4a2a18" /><circle cx="31" cy="56" r="3.5" fill="#4a2a18" />
</>

const roll = <>
  {saucer}
  <circle cx="60" cy="45" r="26" fill="#d9a05c" />
  <path d="M60 45c0-4 6-4 6 1s-8 8-13 3-3-16 7-17 18 8 16 18-12 17-22 14-16-12-14-22" fill="none" stroke="#8f5426" strokeWidth="3.5" strokeLinecap="round" />
  <path d="M44 30q6 4 4 9t5 8M72 28q-4 5 0 9" stroke="#fff" strokeWidth="3" strokeLinecap="round" fill="none" opacity=".8" />
</>

const loaf = <>
  {saucer}
  <path d="M24 56c0-18 16-28 36-28s36 10 36 28c0 8-6 12-12 12H36c-6 0-12-4-12-12z" fill="#c98a48" />
  <path d="M44 36q5 8 1 16M60 33q5 9 0 18M76 36q4 8-1 16" stroke="#f3dcb8" strokeWidth="3.5" strokeLinecap="round" fill="none" />
</>

const cake = <>
  {saucer}
  <path d="M28 58V44l56-18c6 4 8 10 8 18v14z" fill="#f2d9a3" />
  <path d="M28 44l56-18c6 4 8 10 8 18z" fill="#7a4522" />
  <path d="M28 58h64v6H28z" fill="#b98149" />
</>

const bag = <>
  <ellipse cx="60" cy="78" rx="26" ry="4" fill="var(--d-line)" opacity=".25" />
  <path d="M40 24h40l4 50H36z" fill="#8a5a36" />
  <path d="M40 14h40v12H40z" fill="#6f4526" />
  <rect x="45" y="38" width="30" height="24" rx="3" fill="var(--d-china)" />
  <g fill="#5a3420"><ellipse cx="55" cy="50" rx="4.5" ry="6.5" transform="rotate(20 55 50)" /><ellipse cx="66" cy="50" rx="4.5" ry="6.5" transform="rotate(-20 66 50)" /></g>
</>

const breakfast = <>
  <g transform="translate(-14 -4) scale(.82)">{cup('#6b3f22')}</g>
  <g transform="translate(50 30) scale(.6)">{croissant}</g>
</>

const gift = <>
  {saucer}
  <rect x="34" y="34" width="52" height="36" rx="3" fill="var(--d-accent)" />
  <path d="M60 34v36M34 48h52" stroke="var(--d-china)" strokeWidth="5" />
  <path d="M60 33c-16-3-18-18-8-18 7 0 8 12 8 18 0-6 1-18 8-18 10 0 8 15-8 18z" fill="none" stroke="var(--d-china)" strokeWidth="4" />
</>

const shapes: Record<string, ReactNode> = {
  espresso: cup('#3f2415'), cappuccino: cup('#a9703f', foam), 'flat-white': cup('#a9703f', foam), 'hot-chocolate': cup('#5a2f1c', foam),
  latte, 'cold-brew': iced, tea, mug, croissant, 'pain-au-chocolat': pain, 'cinnamon-roll': roll, sourdough: loaf, cheesecake: cake,
  beans: bag, breakfast, coffee: cup('#3f2415'), drinks: latte, bakery: croissant, gifts: gift
}

const hue = (seed: string) => [...seed].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 360, 7)

/** Drawing is decorative, and hidden from screen readers. */
export const Drawing = ({ kind, seed, cold }: { kind: string; seed: string; cold?: boolean }) => (
  <svg className="picture" viewBox="0 0 120 90" aria-hidden="true" style={{ '--d-hue': cold ? 205 : 15 + hue(seed) % 50 }}>
    <circle cx="96" cy="14" r="34" fill="var(--d-glow)" />
    {shapes[kind] ?? gift}
  </svg>
)
