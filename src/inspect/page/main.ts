/** The inspector's page: folds frames, and draws what they say. */
export {};
