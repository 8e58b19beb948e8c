// In the place of react-style-singleton; see build.js.
export const styleSingleton = () => () => null;
